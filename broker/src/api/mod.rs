//! The APIs, one file each. Handlers get a decoded request and give a response; versions, authorisation and framing are dispatch's.
//!
//! `altered`, `authorized`, `brokers`, `controller`, `coordinator`, `internal_topics`, `numbered`, `own_broker`, `partitions`, `parts` and `repeats` hold what several of them share.

pub mod alter_configs;
pub mod alter_partition_reassignments;
pub mod alter_replica_log_dirs;
mod altered;
pub mod api_versions;
mod authorized;
mod brokers;
mod controller;
mod coordinator;
pub mod create_partitions;
pub mod create_topics;
pub mod delete_groups;
pub mod delete_records;
pub mod delete_topics;
pub mod describe_cluster;
pub mod describe_configs;
pub mod describe_groups;
pub mod describe_log_dirs;
pub mod describe_producers;
pub mod describe_quorum;
pub mod describe_topic_partitions;
pub mod elect_leaders;
pub mod fetch;
pub mod find_coordinator;
pub mod heartbeat;
pub mod incremental_alter_configs;
pub mod init_producer_id;
mod internal_topics;
pub mod join_group;
pub mod leave_group;
pub mod list_config_resources;
pub mod list_groups;
pub mod list_offsets;
pub mod list_partition_reassignments;
pub mod metadata;
mod numbered;
pub mod offset_commit;
pub mod offset_delete;
pub mod offset_fetch;
pub mod offset_for_leader_epoch;
mod own_broker;
mod partitions;
mod parts;
pub mod produce;
mod repeats;
pub mod switched_off;
pub mod sync_group;
pub mod update_features;

#[cfg(test)]
mod tests;

/// The connection is to be closed: the peer can't be told what went wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Close;
