//! What keeps metadata from being taken over.

use protocol::types::Str;
use protocol::wire::DecodeError;

/// Why a Kafka cluster's metadata can't be read or taken over.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KafkaMetadataError {
    /// A record of a later Kafka, or damage.
    #[error("a record of type {key} can't be read: {source}")]
    Record {
        /// Its type.
        key: u32,
        /// Why.
        #[source]
        source: DecodeError,
    },
    /// Not even its type can be read.
    #[error("what stands in the metadata log is no record: {0}")]
    NoRecord(DecodeError),
    /// A type that no Kafka up to 4.4 writes.
    #[error("records of type {0} aren't known: a later Kafka wrote them")]
    Unknown(u32),
    /// The metadata log lacks its beginning.
    #[error("a record speaks of topic {0}, which the log doesn't have")]
    NoTopic(String),
    /// The cluster was upgraded past what is known.
    #[error("metadata.version is {found}, {max} is the newest that is known")]
    TooNew {
        /// The cluster's.
        found: i16,
        /// Ours.
        max: i16,
    },
    /// Partitions of a topic are numbered without gaps.
    #[error("topic {0} has no partition {1}, but a later one")]
    Gap(Str, i32),
}
