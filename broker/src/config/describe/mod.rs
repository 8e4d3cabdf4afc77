//! What DescribeConfigs tells: each config of a resource with its value, where it comes from, and what else would count.
//!
//! One file a kind of resource. Everything here is pure; the order is by name.

mod broker;
mod client_metrics;
mod entry;
mod group;
mod synonym;
mod topic;

pub use broker::{describe_all_brokers, describe_broker};
pub use client_metrics::describe_client_metrics;
pub use entry::Entry;
pub use group::describe_group;
pub use synonym::Synonym;
pub use topic::describe_topic;

#[cfg(test)]
mod tests;
