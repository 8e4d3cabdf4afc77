//! The metadata quorum: a Raft log by raft-rs on files of our own, so far a quorum of one.
//!
//! ```text
//!   Quorum (handle) ── queue ── driver (task: files) ── machine (pure: raft-rs) ── committed entries ── image, subscribers
//!                                  │
//!                     ringlog-raft.log: header block, then one frame a flush
//!                     ringlog-raft.snapshot: the image up to an index, which the log then starts after
//! ```
//!
//! The order that nothing may change: a frame holds the hard state and the new entries; it is written and synced before
//! raft-rs hears of it; only what raft-rs then commits is applied, told and answered.

mod batch;
mod config;
mod driver;
mod error;
mod files;
mod frame;
mod handle;
mod header;
mod machine;
mod open;
mod raft_store;
mod scan;
mod seed;
mod slog_drain;
mod snapshot;

pub use config::{MetadataUpdate, QuorumConfig};
pub use error::QuorumError;
pub(super) use handle::Proposal;
pub use handle::Quorum;
pub use seed::{LOG_NAME, SNAPSHOT_NAME, Seed, seed};

#[cfg(test)]
mod tests;
