//! A broker in memory that does one thing wrong.
//!
//! Written on the `protocol` crate alone, with plain threads: nothing of the load generator is trusted here.

mod answers;
mod faults;
mod serve;
mod store;

pub(crate) use faults::Fault;
pub(crate) use serve::Fake;
