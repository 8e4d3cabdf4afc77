//! The running node: its shards, what each holds, the pieces that travel between them, connections and dispatch.
//!
//! ```text
//!   accept (shard 0) ── connection (its shard) ── dispatch ── api::* ── route ── piece ── service (owning shard)
//! ```

pub mod boot;
pub mod connection;
pub mod dispatch;
pub mod fetch_session;
pub mod first;
pub mod frame;
pub mod groups;
pub mod metadata_changes;
pub mod piece;
mod reading;
pub mod replies;
pub mod serve;
pub mod service;
pub mod state;

pub use piece::{Answer, Piece};
pub use serve::serve;
pub use state::{RequestContext, ShardState, Topology};
