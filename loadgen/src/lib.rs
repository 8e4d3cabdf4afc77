//! The load generator: puts a load on any broker that speaks Kafka's protocol, measures, and proves that
//! nothing was lost.
//!
//! ```text
//!  cli ──── what an operator types, and sees
//!   │
//!  conduct ─ a scenario from beginning to end, on the caller's thread
//!   │ ├─ scenario ── what to do, as data (TOML)
//!   │ └─ result ──── what was measured, as data (JSON)
//!   │
//!  engine ── shards (rt), one a core
//!     ├─ producer, consumer, group ── each a pure machine and a task
//!     ├─ link ─────── connections: the machines of `client` over `rt`
//!     └─ verify ───── ledgers of what was acknowledged and what arrived
//!  sink ──── a broker that only acknowledges, to measure the load generator itself
//!
//!  compare ─ two brokers in turn          peer ── Apache Kafka started here
//!  disk ──── direct writes in a directory  html ── results as a page
//!  process ─ what a broker costs, seen from outside
//! ```
//! [`run()`] is the way in for programs. A closed loop sends as fast as acknowledgements come; an open loop sends at
//! a rate, and counts each record's latency from the moment it was *meant* to be sent, so that a broker that holds
//! up the sender can't hide it.

pub mod cli;
pub mod compare;
mod conduct;
mod consumer;
pub mod disk;
mod draw;
mod engine;
mod error;
mod group;
pub mod html;
mod link;
mod observe;
mod payload;
pub mod peer;
pub mod process;
mod producer;
pub mod result;
pub mod scenario;
pub mod sink;
pub mod tool;
mod verify;

pub use conduct::{run, run_observed};
pub use error::LoadError;
pub use observe::{Observer, Phase, Progress, Unobserved};
