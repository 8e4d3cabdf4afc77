//! Groups of consumers and their offsets.

use super::keys;
use super::reason::*;
use super::rules::*;
use crate::config::key::{ConfigKey, Valid};

pub(super) static KEYS: &[ConfigKey] = keys! {
    "group.min.session.timeout.ms" Int = "6000", ANY, ReadOnly, ACTS,
        "Shortest session timeout a member may ask for, in ms.";
    "group.max.session.timeout.ms" Int = "1800000", ANY, ReadOnly, ACTS,
        "Longest session timeout a member may ask for, in ms.";
    "group.initial.rebalance.delay.ms" Int = "3000", ANY, ReadOnly, ACTS,
        "How long an empty group waits for more members before its first rebalance, in ms.";
    "group.max.size" Int = "2147483647", min(1), ReadOnly, ACTS, "Members of a classic group.";
    "offset.metadata.max.bytes" Int = "4096", ANY, ReadOnly, ACTS, "Largest metadata of a committed offset, in bytes.";
    "offsets.topic.num.partitions" Int = "50", between(1, OFFSETS_PARTITIONS_MAX), ReadOnly, ACTS,
        "Partitions of __consumer_offsets when it is created; don't change it afterwards.";
    "offsets.topic.replication.factor" Short = "3", min(1), ReadOnly, ACTS,
        "Replicas of __consumer_offsets; if unset, 3 or as many as there are brokers.";
    "offsets.topic.segment.bytes" Int = "104857600", min(1), ReadOnly, ACTS,
        "Segment size of __consumer_offsets, in bytes.";
    "offsets.topic.compression.codec" Int = "0", between(0, 4), ReadOnly, OFFSETS_CODEC,
        "Compression of __consumer_offsets: 0 none, 1 gzip, 2 snappy, 3 lz4, 4 zstd.";
    "offsets.retention.minutes" Int = "10080", min(1), ReadOnly, ACTS,
        "How long offsets outlive their group, in minutes.";
    "offsets.retention.check.interval.ms" Long = "600000", min(1), ReadOnly, ACTS,
        "Time between two looks for expired offsets, in ms.";
    "offsets.load.buffer.size" Int = "5242880", min(1), ReadOnly, LOADING, "Bytes read at a time when offsets are loaded.";
    "offsets.commit.timeout.ms" Int = "5000", min(1), ReadOnly, REPLICATION,
        "How long a commit waits for all replicas, in ms.";
    "group.coordinator.threads" Int = "4", min(1), ReadOnly, THREADS, "Threads of the group coordinator.";
    "group.coordinator.background.threads" Int = "2", min(1), ReadOnly, THREADS,
        "Threads that compute assignments.";
    "group.coordinator.append.linger.ms" Int = "-1", min(-1), ReadOnly, LINGER,
        "How long the coordinator gathers records for a batch, in ms; -1 adapts.";
    "group.coordinator.cached.buffer.max.bytes" Int = "1048588", min(524_288), ClusterWide, LINGER,
        "Largest append buffer the coordinator keeps, in bytes.";
    "group.coordinator.rebalance.protocols" List = "classic,consumer,streams",
        Valid::ListOf(&["consumer", "classic", "share", "streams"]), ReadOnly, NEW_GROUPS, "Group protocols offered.";
    "group.consumer.session.timeout.ms" Int = "45000", min(1), ReadOnly, NEW_GROUPS, "Session timeout, in ms (KIP-848).";
    "group.consumer.min.session.timeout.ms" Int = "45000", min(1), ReadOnly, NEW_GROUPS,
        "Shortest session timeout a group may set, in ms.";
    "group.consumer.max.session.timeout.ms" Int = "60000", min(1), ReadOnly, NEW_GROUPS,
        "Longest session timeout a group may set, in ms.";
    "group.consumer.heartbeat.interval.ms" Int = "5000", min(1), ReadOnly, NEW_GROUPS, "Heartbeat interval, in ms.";
    "group.consumer.min.heartbeat.interval.ms" Int = "5000", min(1), ReadOnly, NEW_GROUPS,
        "Shortest heartbeat interval a group may set, in ms.";
    "group.consumer.max.heartbeat.interval.ms" Int = "15000", min(1), ReadOnly, NEW_GROUPS,
        "Longest heartbeat interval a group may set, in ms.";
    "group.consumer.max.size" Int = "2147483647", min(1), ReadOnly, NEW_GROUPS, "Members of a consumer group.";
    "group.consumer.assignors" List = "uniform,range", ANY, ReadOnly, NEW_GROUPS, "Assignors, the first is the default.";
    "group.consumer.migration.policy" String = "bidirectional",
        one_of(&["disabled", "upgrade", "downgrade", "bidirectional"]), ReadOnly, NEW_GROUPS,
        "Which live conversions between classic and consumer groups are allowed.";
    "group.consumer.assignment.interval.ms" Int = "1000", between(0, 15_000), ClusterWide, NEW_GROUPS,
        "Shortest time between two assignments of a group, in ms (KIP-1263).";
    "group.consumer.min.assignment.interval.ms" Int = "0", min(0), ReadOnly, NEW_GROUPS,
        "Shortest time between two assignments a group may set, in ms.";
    "group.consumer.max.assignment.interval.ms" Int = "15000", min(0), ReadOnly, NEW_GROUPS,
        "Longest time between two assignments a group may set, in ms.";
    "group.consumer.regex.refresh.interval.ms" Int = "600000", min(10_000), ReadOnly, NEW_GROUPS,
        "Time between two evaluations of a subscribed pattern, in ms.";
    "group.consumer.assignor.offload.enable" Boolean = "true", ANY, ClusterWide, NEW_GROUPS,
        "Whether assignments are computed on other threads.";
};
