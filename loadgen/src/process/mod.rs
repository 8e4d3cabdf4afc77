//! Processes of this host, seen and held from outside: what a broker costs, who listens where, and programs
//! that were started here and must not outlive us.
//!
//! Everything is read from /proc by pid, without a part of ours inside the broker, so that any broker is
//! measured alike. It runs on plain threads, outside `rt` and its simulation.

mod error;
mod files;
mod listening;
mod owned;
mod sample;
mod syscalls;
mod usage;
mod watch;

#[cfg(test)]
mod tests;

pub use error::HostError;
pub use listening::listener_of;
pub use owned::Owned;
pub use sample::Sample;
pub use syscalls::{Syscalls, counting_refused};
pub use usage::Usage;
pub use watch::BrokerWatch;

pub(crate) use files::{free_port, make_dir, pause, read_text, remove_dir, temp_dir, write_text};
