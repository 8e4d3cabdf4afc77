//! The ring engine: one io_uring a shard, at which tasks, files, sockets, timers and other threads' wake-ups
//! wait together.
//!
//! glommio enters the kernel several times a turn, for three rings, and interrupts every other core of the
//! process before each sleep (`membarrier`). Here a turn is one `io_uring_enter`: it submits all that was
//! begun, takes in what is done, and sleeps until the next timer if there is nothing to run.
//!
//! ```text
//!   run loop:  ready tasks ──> timers ──> io_uring_enter (submit, maybe sleep) ──> completions wake tasks ─┐
//!      ▲                                                                                                   │
//!      └───────────────────────────────────────────────────────────────────────────────────────────────────┘
//!   another thread:  push into `remote` ── fence ── asleep? then write the eventfd, which the ring reads
//! ```
//!
//! A ring belongs to its thread (`SINGLE_ISSUER`, `DEFER_TASKRUN`: completions are worked off only when the
//! thread enters), so a running shard is never interrupted by its own I/O.

mod executor;
mod file;
mod op;
mod reactor;
mod readiness;
mod remote;

#[cfg(test)]
mod tests;

pub(crate) use executor::{Executor, spawn};
pub(crate) use file::RingFile;
pub(crate) use reactor::Reactor;
pub(crate) use readiness::{Interest, Wait, ready};
