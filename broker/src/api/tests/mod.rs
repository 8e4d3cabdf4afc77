//! The pure parts of the API handlers.

mod api_versions;
mod describe_topic_partitions;
mod metadata;
