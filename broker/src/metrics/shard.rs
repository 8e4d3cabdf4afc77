//! [`ShardMetrics`]: what a shard counts that has no better place.

use rt::TimeHistogram;

use super::apis::ApiCounters;
use super::topics::TopicTraffic;

/// Counts of one shard. Other numbers are counted where they belong: pieces by the mesh, flushes by the log directory, connections by their keeper.
#[derive(Debug, Default)]
pub struct ShardMetrics {
    /// Requests of the connections of this shard.
    pub apis: ApiCounters,
    /// Traffic of the partitions of this shard.
    pub topics: TopicTraffic,
    /// From a batch's arrival at its owner, this shard, until it has its offsets.
    pub append: TimeHistogram,
    /// From there until it is as durable as its acks want.
    pub flush: TimeHistogram,
}
