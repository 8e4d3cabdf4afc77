//! Units of numbers.

use crate::config::key::{ConfigKey, Kind};

/// The unit of a config's value, by its name and, where that doesn't tell, by its doc.
pub(super) fn unit(key: &ConfigKey) -> Option<&'static str> {
    if !matches!(key.kind, Kind::Int | Kind::Short | Kind::Long | Kind::Double) {
        return None;
    }
    let by_name = ENDINGS.iter().find(|(ending, _)| key.name.ends_with(ending));
    let by_doc = || PHRASES.iter().find(|(phrase, _)| key.doc.contains(phrase));
    by_name.or_else(by_doc).map(|(_, unit)| *unit)
}

static ENDINGS: &[(&str, &str)] = &[
    (".bytes.per.second", "bytes/s"),
    (".throttled.rate", "bytes/s"),
    (".ms", "ms"),
    (".minutes", "min"),
    (".hours", "h"),
    (".seconds", "s"),
    (".secs", "s"),
    (".bytes", "bytes"),
    (".ratio", "fraction"),
    (".factor", "fraction"),
];

static PHRASES: &[(&str, &str)] = &[
    (", in ms", "ms"),
    (", in s.", "s"),
    (", in s,", "s"),
    (", in bytes", "bytes"),
    ("Bytes of ", "bytes"),
    ("in records", "records"),
];
