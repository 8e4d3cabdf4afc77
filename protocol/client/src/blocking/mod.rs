//! The machines driven over blocking sockets of the standard library, for tools that own their thread.
//!
//! Not for a shard: every call here blocks. Broker code never uses this module.

mod client;
mod socket;

pub use client::{BlockingClient, Target};
pub use socket::BlockingConnection;
