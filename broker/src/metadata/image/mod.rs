//! The metadata at an offset, and how records change it.

mod apply;
mod broker;
mod delta;
mod image_state;
mod metric_name;
mod removed;
mod snapshot;
mod topic;

pub use apply::ApplyError;
pub use broker::{Broker, Endpoint, has_online_dir};
pub use delta::Delta;
pub use image_state::{
    Image, RESOURCE_BROKER, RESOURCE_BROKER_LOGGER, RESOURCE_CLIENT_METRICS, RESOURCE_GROUP, RESOURCE_TOPIC,
};
pub use metric_name::metric_name;
pub use topic::{DIRECTORY_UNASSIGNED, OFFSETS_TOPIC, Partition, Topic, is_internal};

#[cfg(test)]
mod tests;
