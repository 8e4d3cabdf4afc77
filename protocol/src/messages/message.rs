//! What all messages have in common.

use crate::api::ApiKey;
use crate::error::ErrorCode;
use crate::wire::{DecodeError, EncodeError, Reader, Wire, Writer};

/// A closed range of versions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VersionRange {
    /// Lowest version.
    pub min: i16,
    /// Highest version.
    pub max: i16,
}

impl VersionRange {
    /// From `min` to `max`, both included.
    pub const fn new(min: i16, max: i16) -> Self {
        Self { min, max }
    }

    /// Whether `version` is in it.
    pub const fn contains(self, version: i16) -> bool {
        self.min <= version && version <= self.max
    }

    /// The versions in both, if any.
    pub fn intersect(self, other: Self) -> Option<Self> {
        let both = Self { min: self.min.max(other.min), max: self.max.min(other.max) };
        (both.min <= both.max).then_some(both)
    }
}

/// A top-level struct with versions of its own: an API message or a record.
pub trait Message: Wire + Default + Clone + PartialEq + std::fmt::Debug {
    /// Name in Kafka's schema.
    const NAME: &'static str;
    /// Versions that can be read and written.
    const VERSIONS: VersionRange;
    /// First version with compact lengths and tagged fields; `i16::MAX` when there is none.
    const FLEXIBLE_FROM: i16;

    /// Reads one. Bytes after it stay in the reader.
    ///
    /// # Errors
    /// The version doesn't exist, or the bytes aren't such a message.
    fn decode(r: &mut Reader, version: i16) -> Result<Self, DecodeError> {
        if !Self::VERSIONS.contains(version) {
            return Err(DecodeError::Version { message: Self::NAME, version });
        }
        Self::read(r, version, version >= Self::FLEXIBLE_FROM)
    }

    /// Appends it.
    ///
    /// # Errors
    /// The version doesn't exist, or has no encoding for a value that is set.
    fn encode(&self, w: &mut Writer, version: i16) -> Result<(), EncodeError> {
        if !Self::VERSIONS.contains(version) {
            return Err(EncodeError::Version { message: Self::NAME, version });
        }
        self.write(w, version, version >= Self::FLEXIBLE_FROM)
    }
}

/// A request or a response.
pub trait ApiMessage: Message {
    /// The API it belongs to.
    const API: ApiKey;
}

/// A request, with what answers it.
pub trait Request: ApiMessage {
    /// Its response, of the same version.
    type Response: Response;
}

/// A response.
pub trait Response: ApiMessage {
    /// Calls `each` with every error code in it, NONE too: its own, and those of its topics, partitions, members and so on. What a
    /// version doesn't carry is visited all the same.
    fn visit_error_codes(&self, each: &mut dyn FnMut(ErrorCode));
}
