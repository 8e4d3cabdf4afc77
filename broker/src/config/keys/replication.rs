//! Replication between brokers.

use super::keys;
use super::reason::*;
use super::rules::*;
use crate::config::key::ConfigKey;

pub(super) static KEYS: &[ConfigKey] = keys! {
    "num.replica.fetchers" Int = "1", min(1), ClusterWide, THREADS, "Threads that fetch from one other broker.";
    "num.replica.alter.log.dirs.threads" Int, ANY, ReadOnly, THREADS,
        "Threads that move replicas between directories; one a directory if unset.";
    "replica.lag.time.max.ms" Long = "30000", min(1), ReadOnly, REPLICATION,
        "A follower behind for this long leaves the in-sync set, in ms.";
    "replica.socket.timeout.ms" Int = "30000", ANY, ReadOnly, REPLICATION, "Timeout of follower requests, in ms.";
    "replica.socket.receive.buffer.bytes" Int = "65536", ANY, ReadOnly, REPLICATION, "SO_RCVBUF of followers, in bytes.";
    "replica.fetch.max.bytes" Int = "1048576", min(0), ReadOnly, REPLICATION,
        "Bytes a follower asks for, per partition.";
    "replica.fetch.response.max.bytes" Int = "10485760", min(0), ReadOnly, REPLICATION,
        "Bytes a follower asks for, per request.";
    "replica.fetch.min.bytes" Int = "1", ANY, ReadOnly, REPLICATION, "Bytes a follower waits for.";
    "replica.fetch.wait.max.ms" Int = "500", ANY, ReadOnly, REPLICATION,
        "How long a follower waits for replica.fetch.min.bytes, in ms.";
    "replica.fetch.backoff.ms" Int = "1000", min(0), ReadOnly, REPLICATION,
        "How long a follower sleeps after an error, in ms.";
    "replica.high.watermark.checkpoint.interval.ms" Long = "5000", ANY, ReadOnly, STORAGE,
        "Time between two writes of the high watermarks, in ms.";
    "replica.selector.class" String, ANY, ReadOnly, REPLICATION,
        "How a leader picks the replica a consumer should read from (KIP-392).";
    "unclean.leader.election.enable" Boolean = "false", ANY, ClusterWide, REPLICATION,
        "Whether a replica that isn't in sync may become leader, losing records.";
    "unclean.leader.election.interval.ms" Long = "300000", min(1), ReadOnly, REPLICATION,
        "Time between two looks for leaderless partitions, in ms.";
    "follower.fetch.last.tiered.offset.enable" Boolean = "false", ANY, ClusterWide, TIERED,
        "Whether a new follower starts at the last offset uploaded.";
    "fetch.purgatory.purge.interval.requests" Int = "1000", ANY, ReadOnly, PURGATORY,
        "Finished fetches kept before they are purged.";
    "producer.purgatory.purge.interval.requests" Int = "1000", ANY, ReadOnly, PURGATORY,
        "Finished produce requests kept before they are purged.";
    "delete.records.purgatory.purge.interval.requests" Int = "1", ANY, ReadOnly, PURGATORY,
        "Finished delete-records requests kept before they are purged.";
    "leader.replication.throttled.rate" Long = "9223372036854775807", min(0), DynamicOnly, REPLICATION,
        "Bytes a second that leaders send for throttled replicas.";
    "follower.replication.throttled.rate" Long = "9223372036854775807", min(0), DynamicOnly, REPLICATION,
        "Bytes a second that followers fetch for throttled replicas.";
    "replica.alter.log.dirs.io.max.bytes.per.second" Long = "9223372036854775807", min(0), DynamicOnly, ACTS,
        "Bytes a second that moves between directories copy.";
};
