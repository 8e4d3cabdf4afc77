//! Lines to keys and values.

use super::{NewRecord, ProduceArgs};

/// How a line is taken apart.
#[derive(Debug)]
pub(super) struct Lines<'a> {
    separator: Option<&'a [u8]>,
    key_optional: bool,
    empty_as_null: bool,
}

impl<'a> Lines<'a> {
    pub(super) fn new(args: &'a ProduceArgs) -> Self {
        let separator = args.key_separator.as_deref().map(str::as_bytes);
        Self { separator, key_optional: args.key_optional, empty_as_null: args.empty_as_null }
    }

    /// Key and value of a line, its end of line left out.
    pub(super) fn split(&self, line: &[u8]) -> Result<NewRecord, &'static str> {
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let Some(separator) = self.separator else { return Ok(self.record(None, line)) };
        match line.windows(separator.len()).position(|window| window == separator) {
            Some(at) => Ok(self.record(Some(&line[..at]), &line[at + separator.len()..])),
            None if self.key_optional => Ok(self.record(None, line)),
            None => Err("it has no key separator (--key-optional sends such lines without a key)"),
        }
    }

    fn record(&self, key: Option<&[u8]>, value: &[u8]) -> NewRecord {
        let value = (!value.is_empty() || !self.empty_as_null).then(|| value.to_vec());
        NewRecord { key: key.map(<[u8]>::to_vec), value, ..NewRecord::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Split = Result<(Option<Vec<u8>>, Option<Vec<u8>>), &'static str>;

    fn split(lines: &Lines<'_>, line: &[u8]) -> Split {
        lines.split(line).map(|record| (record.key, record.value))
    }

    fn wanted(key: Option<&str>, value: Option<&str>) -> Split {
        let bytes = |text: &str| text.as_bytes().to_vec();
        Ok((key.map(bytes), value.map(bytes)))
    }

    const PLAIN: Lines<'static> = Lines { separator: None, key_optional: false, empty_as_null: false };

    #[test]
    fn lines_lose_their_ends_only() {
        for (line, value) in [("a b\n", "a b"), ("a\r\n", "a"), (" a", " a"), ("\n", "")] {
            assert_eq!(split(&PLAIN, line.as_bytes()), wanted(None, Some(value)));
        }
    }

    #[test]
    fn the_first_separator_counts() {
        let lines = Lines { separator: Some(b"::"), ..PLAIN };
        assert_eq!(split(&lines, b"k::v::w\n"), wanted(Some("k"), Some("v::w")));
        assert_eq!(split(&lines, b"::v"), wanted(Some(""), Some("v")));
        assert!(lines.split(b"k:v").is_err());
        assert_eq!(split(&Lines { key_optional: true, ..lines }, b"k:v"), wanted(None, Some("k:v")));
    }

    #[test]
    fn empty_values_may_be_tombstones() {
        let lines = Lines { separator: Some(b":"), empty_as_null: true, ..PLAIN };
        assert_eq!(split(&lines, b"k:\n"), wanted(Some("k"), None));
    }
}
