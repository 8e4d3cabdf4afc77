//! What can be wrong with bytes, and with a value that should become bytes.

/// Bytes that are not the message they should be: always the peer's (or the file's) fault.
///
/// `at` is the position in bytes from the start of the reader's buffer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// The bytes end before the value does.
    #[error("bytes end early: {needed} needed at byte {at}, {left} left")]
    Truncated {
        /// Where the value starts.
        at: usize,
        /// Bytes the value takes, at least.
        needed: usize,
        /// Bytes there are.
        left: usize,
    },
    /// A null where this version allows none.
    #[error("null at byte {at} where there can be none")]
    Null {
        /// Position after the length.
        at: usize,
    },
    /// A string over [`crate::limits::STRING_BYTES_MAX`].
    #[error("string of {len} bytes at byte {at} is too long")]
    StringTooLong {
        /// Position after the length.
        at: usize,
        /// Its length in bytes.
        len: usize,
    },
    /// More array elements or tagged fields than [`crate::limits`] allows.
    #[error("{len} elements at byte {at}, at most {max} allowed")]
    TooMany {
        /// Position after the count.
        at: usize,
        /// The count.
        len: usize,
        /// The limit.
        max: usize,
    },
    /// Arrays that take more memory than this reader allows.
    #[error("arrays of more than {max} bytes in memory at byte {at}")]
    ArraysTooLarge {
        /// Position after the count that is too much.
        at: usize,
        /// The limit in bytes.
        max: usize,
    },
    /// A variable-length integer that doesn't end within its type.
    #[error("bad varint at byte {at}")]
    Varint {
        /// Position of its first byte.
        at: usize,
    },
    /// A string that isn't UTF-8.
    #[error("string at byte {at} is not UTF-8")]
    Utf8 {
        /// Position of its first byte.
        at: usize,
    },
    /// A known tagged field whose value doesn't fill its declared size.
    #[error("tagged field {tag} has {left} bytes too many before byte {at}")]
    TagSize {
        /// The tag.
        tag: u32,
        /// Position after the field.
        at: usize,
        /// Bytes not consumed.
        left: usize,
    },
    /// A version this message doesn't have.
    #[error("{message} has no version {version}")]
    Version {
        /// Name of the message.
        message: &'static str,
        /// The version asked for.
        version: i16,
    },
    /// Bytes after the end of something that must fill its buffer.
    #[error("{left} bytes left over at byte {at}")]
    Trailing {
        /// Position after the value.
        at: usize,
        /// Bytes not consumed.
        left: usize,
    },
    /// A frame version or a record type nobody knows.
    #[error("unknown {what} {value}")]
    Unknown {
        /// What it is.
        what: &'static str,
        /// Its number.
        value: u32,
    },
}

/// A value that has no encoding at the version asked for: always our own fault.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EncodeError {
    /// A version this message doesn't have.
    #[error("{message} has no version {version}")]
    Version {
        /// Name of the message.
        message: &'static str,
        /// The version asked for.
        version: i16,
    },
    /// A field that isn't at its default, can't be ignored and doesn't exist in this version.
    #[error("{field} is set and doesn't exist in version {version}")]
    NotInVersion {
        /// `Struct.Field` as in the schema.
        field: &'static str,
        /// The version asked for.
        version: i16,
    },
    /// A null where this version allows none.
    #[error("{field} is null, which version {version} doesn't allow")]
    Null {
        /// `Struct.Field` as in the schema.
        field: &'static str,
        /// The version asked for.
        version: i16,
    },
    /// A length that doesn't fit its encoding, or that no decoder would take.
    #[error("length {len} is over {max}")]
    TooLong {
        /// Bytes or elements.
        len: usize,
        /// The limit.
        max: usize,
    },
    /// Unknown tagged fields in a version that has no tagged fields.
    #[error("tagged fields in version {version}, which has none")]
    TagsNotAllowed {
        /// The version asked for.
        version: i16,
    },
    /// An unknown tagged field with the tag of a field this version knows.
    #[error("unknown tagged field {tag} is one this version knows")]
    TagClash {
        /// The tag.
        tag: u32,
    },
}
