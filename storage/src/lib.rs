//! One partition's log on files: segments, indexes, producer state, recovery, in Kafka's own on-disk format.
//!
//! Everything here lives on one shard: handles are `Rc`, nothing is locked. Several shards share a log
//! directory: each opens the logs it owns ([`LogDir`]), one of them owns the directory itself ([`DirHome`]).
//! Knows no API keys.
//!
//! Start: [`DirHome::open`] on one shard, its [`DirFacts`] to all; [`LogDir::open`] and [`LogDir::open_logs`]
//! on each; [`DirHome::begin_use`]. Stop: [`LogDir::close`] on each; [`DirHome::close`].
#[cfg(feature = "bench")]
pub mod bench;
mod committer;
mod compaction;
mod config;
mod deadlines;
mod dir;
mod epochs;
mod error;
mod fan_out;
pub mod inspect;
mod journal;
pub mod limits;
mod log;
mod lru;
mod offset;
pub mod producer;
mod retention;
mod segment;
mod unless;

pub use compaction::Compacted;
#[cfg(feature = "mutants")]
pub use config::Mutant;
pub use config::{CleanerConfig, CompactionConfig, LogConfig, LogDirConfig, TimestampSource};
pub use dir::{
    ClosedDir, DirFacts, DirHome, DirMemory, DirStats, HomeConfig, LogDir, MemoryUse, MetaProperties,
    Offsets, Room,
};
pub use epochs::EpochCheckpoint;
pub use error::{AppendError, CompactionError, ReadError, StorageError, WaitError};
pub use journal::JournalConfig;
pub use log::{AppendInfo, ClosedAt, Log, LogSlice, LogStatus, Reservation, TimestampOffset, Watermarks};

/// Replays and removes the journals in a directory, as [`DirHome::open`] does.
///
/// # Errors
/// `Corrupt`, `NoSpace`, `Io`.
#[cfg(feature = "mutants")]
pub async fn settle_journals(path: &std::path::Path, clean: bool) -> Result<(), StorageError> {
    let failed = |error| StorageError::io("opening the directory", error);
    let volume = rt::fs::Volume::open(path.join(".lock")).await.map_err(failed)?;
    journal::replay::settle(path, &volume, clean, None).await.map(drop)
}
pub use offset::{FilePos, LeaderEpoch, Offset, TopicPartition};
