//! Share groups and their coordinator (KIP-932).

use super::keys;
use super::reason::*;
use super::rules::*;
use crate::config::key::ConfigKey;

pub(super) static KEYS: &[ConfigKey] = keys! {
    "group.share.session.timeout.ms" Int = "45000", min(1), ReadOnly, SHARE, "Session timeout, in ms.";
    "group.share.min.session.timeout.ms" Int = "45000", min(1), ReadOnly, SHARE, "Shortest a group may set, in ms.";
    "group.share.max.session.timeout.ms" Int = "60000", min(1), ReadOnly, SHARE, "Longest a group may set, in ms.";
    "group.share.heartbeat.interval.ms" Int = "5000", min(1), ReadOnly, SHARE, "Heartbeat interval, in ms.";
    "group.share.min.heartbeat.interval.ms" Int = "5000", min(1), ReadOnly, SHARE, "Shortest a group may set, in ms.";
    "group.share.max.heartbeat.interval.ms" Int = "15000", min(1), ReadOnly, SHARE, "Longest a group may set, in ms.";
    "group.share.max.size" Int = "200", between(1, 1_000), ReadOnly, SHARE, "Members of a share group.";
    "group.share.assignors" List = "simple", ANY, ReadOnly, SHARE, "Assignor of share groups.";
    "group.share.assignment.interval.ms" Int = "1000", between(0, 15_000), ClusterWide, SHARE,
        "Shortest time between two assignments of a group, in ms.";
    "group.share.min.assignment.interval.ms" Int = "0", min(0), ReadOnly, SHARE, "Shortest a group may set, in ms.";
    "group.share.max.assignment.interval.ms" Int = "15000", min(0), ReadOnly, SHARE, "Longest a group may set, in ms.";
    "group.share.assignor.offload.enable" Boolean = "true", ANY, ClusterWide, SHARE,
        "Whether assignments are computed on other threads.";
    "group.share.delivery.count.limit" Int = "5", between(2, 10), ReadOnly, SHARE, "Deliveries of a record.";
    "group.share.min.delivery.count.limit" Int = "2", between(2, 5), ReadOnly, SHARE, "Smallest a group may set.";
    "group.share.max.delivery.count.limit" Int = "10", between(5, 25), ReadOnly, SHARE, "Largest a group may set.";
    "group.share.record.lock.duration.ms" Int = "30000", between(1_000, 60_000), ReadOnly, SHARE,
        "How long an acquired record stays locked, in ms.";
    "group.share.min.record.lock.duration.ms" Int = "15000", between(1_000, 30_000), ReadOnly, SHARE,
        "Shortest a group may set, in ms.";
    "group.share.max.record.lock.duration.ms" Int = "60000", between(30_000, 3_600_000), ReadOnly, SHARE,
        "Longest a group may set, in ms.";
    "group.share.partition.max.record.locks" Int = "2000", between(100, 10_000), ReadOnly, SHARE,
        "Locked records of a partition.";
    "group.share.min.partition.max.record.locks" Int = "100", between(100, 2_000), ReadOnly, SHARE,
        "Fewest a group may set.";
    "group.share.max.partition.max.record.locks" Int = "4000", between(2_000, 20_000), ReadOnly, SHARE,
        "Most a group may set.";
    "group.share.max.share.sessions" Int = "2000", min(1), ReadOnly, SHARE, "Share sessions of a broker.";
    "group.share.initialize.retry.interval.ms" Int = "30000", min(1), ReadOnly, SHARE,
        "Time until initialising a partition is tried again, in ms.";
    "share.fetch.purgatory.purge.interval.requests" Int = "1000", ANY, ReadOnly, PURGATORY,
        "Finished share fetches kept before they are purged.";
    "errors.deadletterqueue.auto.create.topics.enable" Boolean = "false", ANY, ClusterWide, SHARE,
        "Whether dead-letter topics are created by themselves (KIP-1191).";
    "errors.deadletterqueue.topic.name.prefix" String = "dlq.", ANY, ClusterWide, SHARE,
        "How names of dead-letter topics must start.";
    "share.coordinator.state.topic.num.partitions" Int = "50", min(1), ReadOnly, SHARE,
        "Partitions of __share_group_state.";
    "share.coordinator.state.topic.replication.factor" Short = "3", min(1), ReadOnly, SHARE,
        "Replicas of __share_group_state.";
    "share.coordinator.state.topic.min.isr" Short = "2", min(1), ReadOnly, SHARE,
        "In-sync replicas of __share_group_state that a write needs.";
    "share.coordinator.state.topic.segment.bytes" Int = "104857600", min(1), ReadOnly, SHARE,
        "Segment size of __share_group_state, in bytes.";
    "share.coordinator.state.topic.compression.codec" Int = "0", between(0, 4), ReadOnly, SHARE,
        "Compression of __share_group_state: 0 none, 1 gzip, 2 snappy, 3 lz4, 4 zstd.";
    "share.coordinator.threads" Int = "1", min(1), ReadOnly, THREADS, "Threads of the share coordinator.";
    "share.coordinator.snapshot.update.records.per.snapshot" Int = "500", between(0, 500), ReadOnly, SHARE,
        "Updates between two snapshots.";
    "share.coordinator.load.buffer.size" Int = "5242880", min(1), ReadOnly, SHARE, "Bytes read at a time on load.";
    "share.coordinator.append.linger.ms" Int = "-1", min(-1), ReadOnly, SHARE,
        "How long the coordinator gathers records for a batch, in ms; -1 adapts.";
    "share.coordinator.write.timeout.ms" Int = "5000", min(1), ReadOnly, SHARE,
        "How long a write waits for all replicas, in ms.";
    "share.coordinator.state.topic.prune.interval.ms" Int = "300000", min(1), ReadOnly, SHARE,
        "Time between two prunings of the topic, in ms.";
    "share.coordinator.cold.partition.snapshot.interval.ms" Int = "300000", min(1), ReadOnly, SHARE,
        "Time after which quiet partitions get a snapshot, in ms.";
    "share.coordinator.cached.buffer.max.bytes" Int = "1048588", min(524_288), ClusterWide, SHARE,
        "Largest append buffer the coordinator keeps, in bytes.";
};
