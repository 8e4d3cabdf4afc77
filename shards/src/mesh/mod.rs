//! The lanes between the shards of a node: pieces one way, answers back.
//!
//! ```text
//!   asking shard                          owning shard
//!   call ── credit ── piece ────────────> handle, as many at a time as there are credits
//!     <────────────── answer ───────────  (the credit is back)
//!
//!   call ── credit ── piece that waits ─> handle, besides those
//!     <────────────── begun ────────────  (the credit is back), with the next answer or some others
//!     <══════════════ answer ═══════════  by a lane of the call's own, whose end says that nobody waits any more
//! ```

mod handle;
mod owner;
mod ports;

pub use handle::{Mesh, MeshStats};
pub use ports::{CREDITS, MeshPiece, MeshPorts, WAITS_MAX, mesh};

#[cfg(test)]
mod tests;
