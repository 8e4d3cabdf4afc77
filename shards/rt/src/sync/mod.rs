//! Waiting within a shard, and lanes between shards.
//!
//! Built on wakers alone, so the same code runs in the real and in the simulated runtime. All types but
//! [`lane`] stay on their shard.

mod budget;
pub mod lane;
mod notify;
pub mod oneshot;

#[cfg(test)]
mod tests;

pub use budget::{Budget, Permit};
pub use notify::{Notified, Notify};
