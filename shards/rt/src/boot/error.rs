//! Why the shards can't start.

use std::io;
use std::path::PathBuf;

use crate::ids::ShardId;

/// Faults of the host or its configuration; the operator mends them. Each message says how.
#[derive(Debug, thiserror::Error)]
pub enum BootError {
    /// The kernel refuses io_uring.
    #[error("io_uring can't be used: {why}")]
    Uring {
        /// The call that failed, the system's answer and the likely cause.
        why: String,
    },
    /// Too little memory may be locked.
    #[error(
        "at most {limit} bytes may be locked in memory, and {shards} shards need {needed}: raise LimitMEMLOCK \
         (systemd) or `ulimit -l`, or run fewer shards"
    )]
    Memlock {
        /// The lock limit, in bytes.
        limit: u64,
        /// What is needed, in bytes.
        needed: u64,
        /// Shards to be run.
        shards: usize,
    },
    /// A list of cores makes no sense.
    #[error("bad list of cores {list:?}: {why}")]
    CoreList {
        /// The list as it was given.
        list: String,
        /// What is wrong with it.
        why: String,
    },
    /// A core can't be used.
    #[error("can't run on core {core}: {error}")]
    Core {
        /// The core's number.
        core: usize,
        /// The system's answer.
        error: io::Error,
    },
    /// No shards, or more than 65,535.
    #[error("{0} shards can't be run")]
    ShardCount(usize),
    /// A shard's rings can't be made.
    #[error("shard {shard} can't start: {error}")]
    Executor {
        /// The shard.
        shard: ShardId,
        /// The system's answer.
        error: io::Error,
    },
    /// A data directory can't be used.
    #[error("data directory {}: {error}", dir.display())]
    DataDir {
        /// The directory.
        dir: PathBuf,
        /// The system's answer.
        error: io::Error,
    },
    /// The system gives no threads.
    #[error("can't start a thread: {0}")]
    Thread(io::Error),
}
