//! Lines to keys and values.

use super::ProduceArgs;

/// How a line is taken apart.
#[derive(Debug)]
pub(super) struct Lines<'a> {
    separator: Option<&'a [u8]>,
    key_optional: bool,
    empty_as_null: bool,
}

/// A record's key and value, either of which may be null.
pub(super) type KeyAndValue<'a> = (Option<&'a [u8]>, Option<&'a [u8]>);

impl<'a> Lines<'a> {
    pub(super) fn new(args: &'a ProduceArgs) -> Self {
        let separator =
            args.key_separator.as_deref().map(str::as_bytes).filter(|separator| !separator.is_empty());
        Self { separator, key_optional: args.key_optional, empty_as_null: args.empty_as_null }
    }

    /// Key and value of a line, its end of line left out.
    pub(super) fn split<'b>(&self, line: &'b [u8]) -> Result<KeyAndValue<'b>, &'static str> {
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let Some(separator) = self.separator else { return Ok((None, self.value(line))) };
        match line.windows(separator.len()).position(|window| window == separator) {
            Some(at) => Ok((Some(&line[..at]), self.value(&line[at + separator.len()..]))),
            None if self.key_optional => Ok((None, self.value(line))),
            None => Err("it has no key separator (--key-optional sends such lines without a key)"),
        }
    }

    fn value<'b>(&self, bytes: &'b [u8]) -> Option<&'b [u8]> {
        if bytes.is_empty() && self.empty_as_null { None } else { Some(bytes) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: Lines<'static> = Lines { separator: None, key_optional: false, empty_as_null: false };

    #[test]
    fn lines_lose_their_ends_only() {
        for (line, value) in [(&b"a b\n"[..], &b"a b"[..]), (b"a\r\n", b"a"), (b" a", b" a"), (b"\n", b"")] {
            assert_eq!(PLAIN.split(line), Ok((None, Some(value))));
        }
    }

    #[test]
    fn the_first_separator_counts() {
        let lines = Lines { separator: Some(b"::"), ..PLAIN };
        assert_eq!(lines.split(b"k::v::w\n"), Ok((Some(&b"k"[..]), Some(&b"v::w"[..]))));
        assert_eq!(lines.split(b"::v"), Ok((Some(&b""[..]), Some(&b"v"[..]))));
        assert!(lines.split(b"k:v").is_err());
        assert_eq!(Lines { key_optional: true, ..lines }.split(b"k:v"), Ok((None, Some(&b"k:v"[..]))));
    }

    #[test]
    fn empty_values_may_be_tombstones() {
        let lines = Lines { separator: Some(b":"), empty_as_null: true, ..PLAIN };
        assert_eq!(lines.split(b"k:\n"), Ok((Some(&b"k"[..]), None)));
    }
}
