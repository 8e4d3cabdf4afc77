//! One row of the API table.

use super::ApiKey;
use super::generated::TABLE;
use crate::messages::VersionRange;

/// What there is to know about an API key before its messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ApiInfo {
    /// The key.
    pub key: ApiKey,
    /// Name as in Kafka's documentation, without Request or Response.
    pub name: &'static str,
    /// What the API does, in a line.
    pub doc: &'static str,
    /// Versions Kafka 4.4 knows; `None` for the keys removed with ZooKeeper.
    pub valid: Option<VersionRange>,
    /// Versions a Kafka 4.4 broker names in ApiVersions by default. Produce is named from 0, although 0-2 are
    /// refused (KAFKA-18659).
    pub advertised: Option<VersionRange>,
    /// First flexible version; `i16::MAX` when there is none.
    pub flexible_from: i16,
    /// Served on broker listeners.
    pub on_broker: bool,
    /// Served on controller listeners.
    pub on_controller: bool,
}

impl ApiKey {
    /// All keys by number, removed ones included.
    pub fn all() -> impl Iterator<Item = ApiKey> {
        TABLE.iter().map(|row| row.key)
    }

    /// The key with this number.
    pub fn from_code(code: i16) -> Option<ApiKey> {
        TABLE.get(usize::try_from(code).ok()?).map(|row| row.key)
    }

    /// Its number on the wire.
    pub const fn code(self) -> i16 {
        self as i16
    }

    /// Its row of the table; an index, not a search.
    pub fn info(self) -> &'static ApiInfo {
        &TABLE[self as usize]
    }

    /// Name as in Kafka's documentation.
    pub fn name(self) -> &'static str {
        self.info().name
    }

    /// Versions Kafka 4.4 knows; `None` for a removed key.
    pub fn valid_versions(self) -> Option<VersionRange> {
        self.info().valid
    }

    /// Lowest version a Kafka 4.4 broker advertises.
    pub fn advertised_min(self) -> Option<i16> {
        self.info().advertised.map(|range| range.min)
    }

    /// Whether messages of this version have compact lengths and tagged fields.
    pub fn is_flexible(self, version: i16) -> bool {
        version >= self.info().flexible_from
    }

    /// Header version of a request: 2 for flexible versions, else 1. Header version 0 went with Kafka 4.0.
    pub fn request_header_version(self, version: i16) -> i16 {
        if self.is_flexible(version) { 2 } else { 1 }
    }

    /// Header version of a response: 1 for flexible versions, else 0. ApiVersions always has 0, as its client
    /// can't know yet what the broker speaks (KIP-511).
    pub fn response_header_version(self, version: i16) -> i16 {
        i16::from(self != ApiKey::ApiVersions && self.is_flexible(version))
    }
}

impl std::fmt::Display for ApiKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.name())
    }
}
