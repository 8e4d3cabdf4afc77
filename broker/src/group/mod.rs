//! The group coordinator: classic groups and committed offsets, kept in `__consumer_offsets`.
//!
//! `coordinator` is the runtime (docs/adr/0005-coordinator-runtime.md), generic over its decider; `decider` is the decider of groups,
//! made of `classic` (members) and `offsets`; `service` is the door: one [`GroupCoordinator`] for each owned partition, which answers
//! every `request`; `api` knows what depends on versions. `partition` tells which partition a group belongs to, `record` writes Kafka's record formats.

pub mod api;
pub mod classic;
pub mod config;
pub mod coordinator;
pub mod decider;
pub mod limits;
pub mod offsets;
pub mod partition;
pub mod record;
mod refused;
pub mod request;
pub mod service;
pub mod topics;

pub use config::GroupConfig;
pub use partition::partition_for_group;
pub use request::{GroupReply, GroupRequest, Joiner};
pub use service::GroupCoordinator;
pub use topics::TopicLookup;

#[cfg(test)]
mod tests;
