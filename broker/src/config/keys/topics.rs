//! Creation of topics, and what brokers set for all of them.

use super::keys;
use super::reason::*;
use super::rules::*;
use crate::config::key::ConfigKey;

pub(super) static KEYS: &[ConfigKey] = keys! {
    "auto.create.topics.enable" Boolean = "true", ANY, ReadOnly, ACTS,
        "Whether asking for the metadata of a topic creates it, if the client wants that too.";
    "delete.topic.enable" Boolean = "true", ANY, ReadOnly, ACTS, "Whether topics can be deleted.";
    "num.partitions" Int = "1", min(1), ReadOnly, ACTS, "Partitions of a topic created without a number.";
    "default.replication.factor" Int = "1", ANY, ReadOnly, ACTS, "Replicas of a topic created without a number.";
    "min.insync.replicas" Int = "1", min(1), ClusterWide, REPLICATION,
        "In-sync replicas that acks=all needs; never more than there are replicas.";
    "message.max.bytes" Int = "1048588", min(0), ClusterWide, ACTS, "Largest record batch accepted, in bytes.";
    "max.decompressed.message.bytes" Int = "2147483639", min(1), ClusterWide, DECOMPRESSION,
        "Largest size of a record batch when decompressed, in bytes.";
    "compression.type" String = "producer", COMPRESSION, ClusterWide, ACTS,
        "How batches are stored: as the producer compressed them, or recompressed by this codec.";
    "compression.gzip.level" Int = "-1", GZIP_LEVEL, ClusterWide, ACTS, "Level if compression.type is gzip.";
    "compression.lz4.level" Int = "9", between(1, 17), ClusterWide, ACTS, "Level if compression.type is lz4.";
    "compression.zstd.level" Int = "3", between(-131_072, 22), ClusterWide, ACTS,
        "Level if compression.type is zstd.";
    "create.topic.policy.class.name" Class, ANY, ReadOnly, JAVA, "Class that may refuse to create a topic.";
    "alter.config.policy.class.name" Class, ANY, ReadOnly, JAVA, "Class that may refuse to alter a config.";
    "auto.leader.rebalance.enable" Boolean = "true", ANY, ReadOnly, PREFERRED,
        "Whether leadership goes back to preferred replicas by itself.";
    "leader.imbalance.check.interval.seconds" Long = "300", min(1), ReadOnly, PREFERRED,
        "Time between two checks for leaders to move back, in s.";
    "max.request.partition.size.limit" Int = "2000", min(1), ReadOnly, ACTS,
        "Partitions in one answer to DescribeTopicPartitions.";
};
