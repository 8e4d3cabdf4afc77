//! The shard journal: group commit over partitions.
//!
//! Instead of a write and a sync per partition, a flush makes one aligned, durable write for all partitions of
//! the shard. Their bytes stay in memory (*pinned*) and go to the segments later, in large pieces.
//!
//! ```text
//!   tails of all partitions                      journal: files of equal size, written one after another
//!    A ▓▓▓░░                                     ┌────────┐┌────────┐┌────────┐┌────────┐
//!    B ▓░        ── one frame a flush ─────────▶ │▒▒▒▒▒▒▒▒││▒▒▒▒▒▒▒▒││▒▒▒     ││  free  │
//!    C ▓▓▓▓░                                     └────────┘└────────┘└────────┘└────────┘
//!      │                                             ▲ floor: nothing before is needed
//!      └── in pieces of 128 KiB, and at checkpoints ─▶ segments
//! ```
//!
//! The rules, each found by a crash model to be needed (`storage/tests/mutants.rs` shows it of five):
//! - A frame is accepted at start only as the successor of the last one ([`chain`]). Acknowledgements follow the
//!   order of frames.
//! - A file is overwritten only when everything in it is in the segments *and synced* ([`checkpoint`]).
//! - What was truncated, deleted, rolled or has left the shard is voided by a floor frame before the next append is
//!   admitted ([`floor`]).
//! - A write to a segment begins with the pinned bytes, so that a segment never has a hole; a block that is written
//!   again begins with the same bytes ([`crate::log::flush`]).
//! - At start: replay, sync, remove the journals, and only then look at the segments ([`replay`]).
//!
//! Whoever finds no room here writes to its segment as without a journal. So nobody waits for room, and the
//! writes that go past it free what holds it up.
mod apply;
pub(crate) mod chain;
pub(crate) mod checkpoint;
pub(crate) mod commit;
pub(crate) mod config;
pub(crate) mod files;
pub(crate) mod floor;
pub(crate) mod frame;
pub(crate) mod header;
pub(crate) mod kept;
pub(crate) mod names;
mod places;
mod read;
pub(crate) mod replay;
pub(crate) mod ring;
pub(crate) mod state;

pub use config::JournalConfig;
pub(crate) use state::Journal;
