//! The code in an `ErrorCode` field.

use std::fmt;

use super::table::{ROWS, Row};

/// An error code, known or not; the constants have Kafka's names.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ErrorCode(pub(super) i16);

impl ErrorCode {
    /// Any code, as it came over the wire.
    pub const fn from_code(code: i16) -> Self {
        Self(code)
    }

    /// The number on the wire.
    pub const fn code(self) -> i16 {
        self.0
    }

    /// Whether this is no error.
    pub const fn is_none(self) -> bool {
        self.0 == 0
    }

    /// Whether this is an error.
    pub const fn is_error(self) -> bool {
        self.0 != 0
    }

    /// Kafka's name of it.
    pub fn name(self) -> &'static str {
        self.row().map_or("UNKNOWN_CODE", |row| row.1)
    }

    /// Whether Kafka's clients try again on it.
    pub fn is_retriable(self) -> bool {
        self.row().is_some_and(|row| row.2)
    }

    /// What it means, for an error message field.
    pub fn message(self) -> &'static str {
        self.row().map_or("Unknown error code", |row| row.3)
    }

    /// All known codes from -1 on.
    pub fn all() -> impl Iterator<Item = ErrorCode> {
        ROWS.iter().map(|row| ErrorCode(row.0))
    }

    fn row(self) -> Option<&'static Row> {
        ROWS.get(usize::try_from(i32::from(self.0) + 1).ok()?)
    }
}

impl From<ErrorCode> for i16 {
    fn from(code: ErrorCode) -> i16 {
        code.0
    }
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.name(), self.0)
    }
}

impl fmt::Debug for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
