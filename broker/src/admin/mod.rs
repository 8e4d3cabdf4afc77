//! The admin HTTP endpoint: `/metrics`, `/healthz`, `/readyz`, `/placement`, if `ringlog.admin.listen` is set.
//!
//! ```text
//!   HTTP client ── thread "admin": server ── routes ── Shards ──(flume: Ask)──> each shard: answer
//!                                                        ^────────(flume: Phase)──────── shard 0
//! ```
//!
//! It runs on a plain thread of its own with a runtime of its own: a shard that is busy or stuck doesn't keep it from saying so, and a
//! client of it costs a shard no more than one message and its answer. This folder alone names hyper and tokio; no shard ever
//! runs their code. It answers without asking who is there: the address is to be one that only operators reach.

mod answer;
pub mod limits;
mod phase;
mod placement;
mod routes;
mod server;
mod shards;
mod start;

pub use answer::{Seat, answer};
pub use phase::{Phase, PhaseSender};
pub use shards::{AdminEnds, Ask, Shards, wires};
pub use start::{AdminError, start};

#[cfg(test)]
mod tests;
