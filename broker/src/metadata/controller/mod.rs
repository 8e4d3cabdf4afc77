//! The controller: pure decisions about metadata.
//!
//! [`Decider::decide`] looks at an image and a request and returns records and a reply; it changes nothing. One file
//! a request kind.

mod alter_configs;
mod assignment;
mod config_resource;
mod create_partitions;
mod create_topics;
mod decider;
mod delete_topics;
mod dir_loads;
mod elect_leaders;
mod fault;
mod log_dirs;
mod once;
mod producer_ids;
mod reassign;
mod register_broker;
mod request;
mod topic_name;
mod update_features;

pub use decider::{Decider, Decision, Facts};
pub use request::{ControllerReply, ControllerRequest};
pub use topic_name::check_topic_name;

#[cfg(test)]
mod tests;
