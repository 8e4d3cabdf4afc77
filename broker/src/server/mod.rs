//! The running node: its shards, what each holds, the pieces that travel between them, connections and dispatch.
//!
//! ```text
//!   wiring ── boot ── join: every shard serves
//!   accept (shard 0) ── connection (its shard) ── dispatch ── api::* ── route ── piece ── service (owning shard)
//! ```

mod accept;
pub mod admin;
mod appending;
pub mod boot;
mod compacting;
pub mod connection;
pub mod connections;
pub mod core_move;
mod deleting;
pub mod dispatch;
pub mod failure;
pub mod fetch_session;
pub mod first;
pub mod frame;
pub mod groups;
mod homes;
mod housekeeping;
mod join;
mod leading;
mod listen;
pub mod log_dirs;
pub mod memory;
pub mod metadata_changes;
mod metadata_dir;
pub mod moving;
pub mod piece;
pub(crate) mod placed_partitions;
mod placement_file;
mod reading;
mod register;
pub mod replies;
pub mod reply_sender;
mod sending;
pub mod serve;
pub mod service;
mod signals;
pub mod state;
mod stop;
mod strays;
mod whereabouts;
pub mod wiring;

pub use failure::Failure;
pub use piece::{Answer, Piece};
pub use serve::serve;
pub use state::{RequestContext, ShardState, Topology};
pub use wiring::Wiring;

#[cfg(test)]
mod tests;
