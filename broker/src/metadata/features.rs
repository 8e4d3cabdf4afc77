//! Features and the levels that this version supports (KIP-584).

use super::limits::METADATA_VERSION;

/// Name of the feature that stands for the metadata records in use.
pub const METADATA_FEATURE: &str = "metadata.version";

/// A feature that Kafka 4.4 knows, with the levels supported here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SupportedFeature {
    /// Its name.
    pub name: &'static str,
    /// Lowest level.
    pub min: i16,
    /// Highest level.
    pub max: i16,
}

const fn at_zero(name: &'static str) -> SupportedFeature {
    SupportedFeature { name, min: 0, max: 0 }
}

/// All of them. Those that aren't served yet are supported at level 0 only; Kafka 4 supports metadata from 3.3-IV3 on.
pub const SUPPORTED: [SupportedFeature; 7] = [
    at_zero("eligible.leader.replicas.version"),
    at_zero("group.version"),
    at_zero("kraft.version"),
    SupportedFeature { name: METADATA_FEATURE, min: 7, max: METADATA_VERSION },
    at_zero("share.version"),
    at_zero("streams.version"),
    at_zero("transaction.version"),
];
