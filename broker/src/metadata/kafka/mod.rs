//! The metadata of an Apache Kafka cluster (KIP-631), read from its log to be taken over: pure, records in, records out.
//!
//! Kept as maps of its own and not as an [`Image`](super::Image): a snapshot of Kafka's has partitions in any order, and much
//! that isn't known here.

mod error;
mod records;
mod state;
#[cfg(test)]
mod tests;
mod untaken;

pub use error::KafkaMetadataError;
pub use state::{KafkaMetadata, KafkaPartition, KafkaTopic};
pub use untaken::Untaken;
