//! The APIs, one file each. Handlers get a decoded request and give a response; versions, authorisation and framing are dispatch's.
//!
//! `brokers`, `controller`, `coordinator`, `internal_topics` and `own_broker` hold what several of them share.

pub mod alter_configs;
pub mod api_versions;
mod brokers;
mod controller;
mod coordinator;
pub mod create_partitions;
pub mod create_topics;
pub mod delete_groups;
pub mod delete_topics;
pub mod describe_configs;
pub mod describe_groups;
pub mod fetch;
pub mod find_coordinator;
pub mod heartbeat;
pub mod incremental_alter_configs;
pub mod init_producer_id;
mod internal_topics;
pub mod join_group;
pub mod leave_group;
pub mod list_groups;
pub mod list_offsets;
pub mod metadata;
pub mod offset_commit;
pub mod offset_fetch;
mod own_broker;
pub mod produce;
pub mod sync_group;

#[cfg(test)]
mod tests;

/// The connection is to be closed: the peer can't be told what went wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Close;
