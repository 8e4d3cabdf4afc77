//! The syntax of Java's `.properties` files.

use std::iter::Peekable;
use std::str::Chars;

use super::error::ConfigError;

/// One assignment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Property {
    /// Name, escapes resolved.
    pub name: String,
    /// Value, escapes resolved; spaces at its end stay, as Java keeps them.
    pub value: String,
    /// Line it starts on, from 1.
    pub line: usize,
}

/// Reads a file's text: `name = value`, `name: value` or `name value`; `#` and `!` start comments; a backslash at
/// the end of a line continues it; `\t \n \r \f \uXXXX` and `\` before anything else are escapes.
///
/// # Errors
/// [`ConfigError::Syntax`] for a `\u` without four hexadecimal digits, or that makes no character.
pub fn parse(text: &str, file: &str) -> Result<Vec<Property>, ConfigError> {
    let mut properties = Vec::new();
    for (line, logical) in logical_lines(text) {
        let syntax = |why: String| ConfigError::Syntax { file: file.into(), line, why };
        let mut chars = logical.chars().peekable();
        let name = unescape_until(&mut chars, |c| is_blank(c) || c == '=' || c == ':').map_err(syntax)?;
        skip_separator(&mut chars);
        let value = unescape_until(&mut chars, |_| false).map_err(syntax)?;
        properties.push(Property { name, value, line });
    }
    Ok(properties)
}

/// Lines with what continues them, comments and empty ones dropped, with the number of the first.
fn logical_lines(text: &str) -> Vec<(usize, String)> {
    let mut lines = Vec::new();
    let mut open: Option<(usize, String)> = None;
    for (i, raw) in text.split('\n').enumerate() {
        let raw = raw.strip_suffix('\r').unwrap_or(raw).trim_start_matches(is_blank);
        let (start, mut line) = match open.take() {
            Some(open) => open,
            None if raw.is_empty() || raw.starts_with(['#', '!']) => continue,
            None => (i + 1, String::new()),
        };
        let backslashes = raw.len() - raw.trim_end_matches('\\').len();
        if backslashes % 2 == 1 {
            line.push_str(&raw[..raw.len() - 1]);
            open = Some((start, line));
        } else {
            line.push_str(raw);
            lines.push((start, line));
        }
    }
    lines.extend(open.filter(|(_, line)| !line.is_empty()));
    lines
}

fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\x0c')
}

fn skip_separator(chars: &mut Peekable<Chars<'_>>) {
    while chars.next_if(|c| is_blank(*c)).is_some() {}
    if chars.next_if(|c| matches!(c, '=' | ':')).is_some() {
        while chars.next_if(|c| is_blank(*c)).is_some() {}
    }
}

fn unescape_until(chars: &mut Peekable<Chars<'_>>, ends: impl Fn(char) -> bool) -> Result<String, String> {
    let mut text = String::new();
    let mut high = None;
    while let Some(c) = chars.next_if(|c| !ends(*c)) {
        if c != '\\' {
            text.push(c);
            continue;
        }
        match chars.next() {
            Some('t') => text.push('\t'),
            Some('n') => text.push('\n'),
            Some('r') => text.push('\r'),
            Some('f') => text.push('\x0c'),
            Some('u') => text.extend(unicode(chars, &mut high)?),
            Some(other) => text.push(other),
            None => {}
        }
    }
    if high.is_some() { Err("half of a surrogate pair".into()) } else { Ok(text) }
}

/// One UTF-16 unit; the first half of a surrogate pair waits for the second.
fn unicode(chars: &mut Peekable<Chars<'_>>, high: &mut Option<u16>) -> Result<Option<char>, String> {
    let digits: String = chars.take(4).collect();
    let all_hex = digits.len() == 4 && digits.bytes().all(|b| b.is_ascii_hexdigit());
    let unit = all_hex.then(|| u16::from_str_radix(&digits, 16).ok()).flatten();
    let unit = unit.ok_or_else(|| format!("malformed \\u{digits}: four hexadecimal digits belong there"))?;
    if (0xd800..0xdc00).contains(&unit) && high.is_none() {
        *high = Some(unit);
        return Ok(None);
    }
    let units = high.take().into_iter().chain([unit]);
    let decoded = char::decode_utf16(units).next();
    decoded.and_then(Result::ok).map(Some).ok_or_else(|| format!("\\u{digits} makes no character"))
}
