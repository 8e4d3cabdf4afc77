//! Texts to values, with the rules and the words of Kafka's ConfigDef.

use std::collections::BTreeSet;

use super::key::{Kind, Valid};

/// Checks a text against type and rule; the error tells what is allowed.
pub(super) fn check(kind: Kind, valid: &Valid, text: &str) -> Result<(), String> {
    match kind {
        Kind::Boolean => boolean(text).map(|_| ()).ok_or("Expected value to be either true or false")?,
        Kind::Int => number::<i32>(text).ok_or("Not a number of type INT").map(|_| ())?,
        Kind::Short => number::<i16>(text).ok_or("Not a number of type SHORT").map(|_| ())?,
        Kind::Long => number::<i64>(text).ok_or("Not a number of type LONG").map(|_| ())?,
        Kind::Double => double(text).ok_or("Not a number of type DOUBLE").map(|_| ())?,
        Kind::String | Kind::List | Kind::Class | Kind::Password => {}
    }
    match *valid {
        Valid::Any => Ok(()),
        Valid::AtLeast(min) => in_range(as_long(text), min, i64::MAX),
        Valid::Between(min, max) => in_range(as_long(text), min, max),
        Valid::Ratio(min, max) => in_range(double(text), min, max),
        Valid::OneOf(allowed) => one_of(text.trim(), allowed),
        Valid::ListOf(allowed) => list(text).iter().try_for_each(|element| one_of(element, allowed)),
        Valid::NonEmpty if text.trim().is_empty() => Err("String must be non-empty".into()),
        Valid::NonEmpty => Ok(()),
        Valid::Rule { check, .. } => check(text),
    }
}

fn in_range<T: PartialOrd + std::fmt::Display>(value: Option<T>, min: T, max: T) -> Result<(), String> {
    match value {
        Some(value) if value > max => Err(format!("Value must be no more than {max}")),
        Some(value) if value >= min => Ok(()),
        // NaN is neither above nor below; it ends here too.
        _ => Err(format!("Value must be at least {min}")),
    }
}

fn one_of(text: &str, allowed: &[&str]) -> Result<(), String> {
    if allowed.contains(&text) {
        return Ok(());
    }
    Err(format!("String must be one of: {}", allowed.join(", ")))
}

fn number<T: std::str::FromStr>(text: &str) -> Option<T> {
    text.trim().parse().ok()
}

/// `true` or `false` in any case.
pub fn boolean(text: &str) -> Option<bool> {
    let text = text.trim();
    if text.eq_ignore_ascii_case("true") {
        return Some(true);
    }
    text.eq_ignore_ascii_case("false").then_some(false)
}

/// A whole number.
pub fn as_long(text: &str) -> Option<i64> {
    number(text)
}

/// A finite or infinite floating-point number.
pub fn double(text: &str) -> Option<f64> {
    number(text)
}

/// The text as Kafka would write the parsed value.
pub fn canonical(kind: Kind, valid: &Valid, text: &str) -> String {
    match kind {
        Kind::Boolean => text.trim().to_ascii_lowercase(),
        Kind::Int | Kind::Short | Kind::Long => text.trim().to_string(),
        Kind::Double => match double(text) {
            // Java writes whole numbers with a decimal point, and very large and small ones by exponent.
            Some(number) if number == 0.0 || (1e-3..1e7).contains(&number.abs()) => format!("{number:?}"),
            _ => text.trim().to_string(),
        },
        Kind::List => {
            let mut elements = list(text);
            if matches!(valid, Valid::ListOf(_)) {
                let mut seen = BTreeSet::new();
                elements.retain(|element| seen.insert(*element));
            }
            elements.join(",")
        }
        Kind::String | Kind::Class | Kind::Password => text.to_string(),
    }
}

/// The elements between commas, spaces around them dropped; none for an empty text.
pub fn list(text: &str) -> Vec<&str> {
    if text.trim().is_empty() {
        return Vec::new();
    }
    text.split(',').map(str::trim).collect()
}
