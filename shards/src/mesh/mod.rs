//! The lanes between the shards of a node: pieces one way, answers back.
//!
//! ```text
//!   asking shard                          owning shard
//!   call ── credit ── piece ────────────> handle, as many at a time as there are credits
//!     <────────────── answer ───────────  (the credit is back)
//!   dropped ───────── cancel ───────────> the piece is dropped, if it allows that
//!     <────────────── none ─────────────  (the credit is back)
//! ```

mod cancel;
mod handle;
mod owner;
mod ports;

pub use handle::{Mesh, MeshStats};
pub use ports::{CREDITS, MeshPiece, MeshPorts, mesh};

#[cfg(test)]
mod tests;
