//! The error codes of refused batches.

/// A Kafka error code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ErrorCode(pub i16);

impl ErrorCode {
    /// 2
    pub const CORRUPT_MESSAGE: Self = Self(2);
    /// 10
    pub const MESSAGE_TOO_LARGE: Self = Self(10);
    /// 32
    pub const INVALID_TIMESTAMP: Self = Self(32);
    /// 76
    pub const UNSUPPORTED_COMPRESSION_TYPE: Self = Self(76);
    /// 87
    pub const INVALID_RECORD: Self = Self(87);
}
