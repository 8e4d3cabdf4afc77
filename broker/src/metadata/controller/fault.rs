//! An error for one topic or resource of a request.

use protocol::error::ErrorCode;
use protocol::types::Str;

use crate::config::ConfigError;

/// A code and the text that goes with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fault {
    /// Kafka's error code.
    pub(super) code: ErrorCode,
    /// Kafka's text.
    pub(super) message: String,
}

impl Fault {
    /// A fault with a text of its own.
    pub(super) fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }

    /// A fault with the code's usual text.
    pub(super) fn plain(code: ErrorCode) -> Self {
        Self::new(code, code.message())
    }

    /// Kafka's text for requests that make more records than one batch may hold.
    pub(super) fn too_many() -> Self {
        Self::new(ErrorCode::POLICY_VIOLATION, "Excessively large number of partitions per request.")
    }

    /// Kafka's text for a topic that a request names twice.
    pub(super) fn duplicate_topic() -> Self {
        Self::new(ErrorCode::INVALID_REQUEST, "Duplicate topic name.")
    }

    /// The text for an answer.
    pub(super) fn text(&self) -> Option<Str> {
        Some(Str::from(&self.message))
    }
}

impl From<ConfigError> for Fault {
    fn from(error: ConfigError) -> Self {
        Self::new(ErrorCode::INVALID_CONFIG, error.to_string())
    }
}
