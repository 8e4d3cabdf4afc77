//! One partition's log on files: segments, indexes, producer state, recovery, in Kafka's own on-disk format.
//!
//! Everything here lives on one shard: handles are `Rc`, nothing is locked. Several shards share a log directory: each opens the
//! partitions it owns, one of them owns the directory itself. Knows no API keys and no clock of its own.
pub mod config;
pub mod epochs;
pub mod error;
pub mod limits;
pub mod offset;
pub mod producer;
pub mod segment;

pub use config::{LogConfig, TimestampSource};
pub use epochs::EpochCheckpoint;
pub use error::{AppendError, Offline, ReadError, StorageError, WaitError};
pub use offset::{FilePos, LeaderEpoch, Offset, TopicPartition};
