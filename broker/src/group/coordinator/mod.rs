//! The runtime of log-backed deciders (docs/adr/0005-coordinator-runtime.md): groups now, transactions and share state later.
//!
//! - [`Decider`]: the pure machine.
//! - [`Runtime`]: one decider over one partition's log, still without I/O: steps, timers, and replies held back until the high
//!   watermark has passed the state they speak of.
//! - [`Coordinator`]: the handle that loads it, drives it and lets peers wait.
//! - [`CoordinatorLog`]: what it needs of the partition. [`Clock`]: what it needs of the runtime below.

mod decider;
mod drive;
mod handle;
mod load;
mod log;
mod now;
mod runtime;
mod timers;

pub use decider::{Decider, Decision, Entry, EntryContent, Outbox, ReplayError, WaiterId};
pub use drive::Clock;
pub use handle::{Coordinator, Phase, ReplyFuture};
pub use log::{CommitWait, CoordinatorLog, LogError};
pub use now::Now;
pub use runtime::{Answer, Asked, LogLost, Runtime};
pub use timers::Timers;

#[cfg(test)]
pub(crate) mod memory_log;
#[cfg(test)]
mod tests;
