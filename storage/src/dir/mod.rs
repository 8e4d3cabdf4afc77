//! A log directory: what its logs share on one shard, and what the directory itself is.
mod busy;
mod delete;
pub(crate) mod doomed;
mod ensure;
pub(crate) mod files;
mod future;
pub(crate) mod home;
pub(crate) mod log_dir;
pub(crate) mod log_starts;
pub(crate) mod meta;
pub(crate) mod offsets_file;
mod release;
pub(crate) mod room;
pub(crate) mod shared;
pub(crate) mod start;
pub(crate) mod stats;
mod strays;
pub(crate) mod unrecovered;

pub use home::{DirFacts, DirHome, HomeConfig};
pub use log_dir::{ClosedDir, LogDir};
pub use meta::MetaProperties;
pub use offsets_file::Offsets;
pub use room::Room;
pub use stats::{DirMemory, DirStats, MemoryUse};
