//! What is decided and checked before the first shard runs.
//!
//! The faults of a host that would otherwise show as a panic or a hang deep inside become one readable
//! verdict here, and the exit code of a configuration error.

mod cgroup;
mod check;
mod core_list;
pub(crate) mod direct_io;
mod error;
pub(crate) mod memlock;
mod memory;
mod open_files;
mod plan;
pub(crate) mod uring;
mod verdict;

#[cfg(test)]
mod tests;

pub use check::check;
pub use core_list::parse_cores;
pub use error::BootError;
pub use memlock::io_memory;
pub use memory::memory_bytes;
pub use open_files::raise_open_files;
pub use plan::{ShardsRequest, plan_shards};
pub use verdict::{Finding, Status, Verdict};

/// Exit code of a configuration error, from sysexits.h.
pub const EX_CONFIG: i32 = 78;
