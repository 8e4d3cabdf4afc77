//! The load generator: puts a load on any broker that speaks Kafka's protocol, measures, and checks that
//! nothing was lost.
//!
//! So far it has one scenario, [`bench()`]: produce a number of records in a closed loop, with a number of
//! batches in flight for each partition, and, if asked to, read all of them back and check each. Latencies
//! are those of batches from sending to acknowledgement; in a closed loop they don't tell what an open stream
//! of records would have waited.
//!
//! Beside it stand [`compare`] (two brokers in turn), [`peer`] (Apache Kafka started here), [`disk`] (direct writes
//! below a directory), [`html`] (results as a page), [`process`] (what a broker costs, seen from outside).
//!
//! It drives [`client::blocking`] on the calling thread, one connection a leader.

mod args;
mod bench;
mod clock;
pub mod compare;
pub mod disk;
mod error;
pub mod html;
mod observe;
mod payload;
pub mod peer;
pub mod process;
mod produce;
mod report;
pub mod result;
mod run;
pub mod scenario;
pub mod tool;
mod topic;
mod verify;

pub use args::{Acks, BenchArgs};
pub use bench::bench;
pub use error::LoadError;
pub use observe::{Observer, Phase, Progress, Unobserved};
pub use report::Report;
pub use run::{run, run_observed};
