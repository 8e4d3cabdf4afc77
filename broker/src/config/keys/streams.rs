//! Streams groups (KIP-1071).

use super::keys;
use super::reason::*;
use super::rules::*;
use crate::config::key::ConfigKey;

pub(super) static KEYS: &[ConfigKey] = keys! {
    "group.streams.session.timeout.ms" Int = "45000", min(1), ReadOnly, STREAMS, "Session timeout, in ms.";
    "group.streams.min.session.timeout.ms" Int = "45000", min(1), ReadOnly, STREAMS, "Shortest a group may set, in ms.";
    "group.streams.max.session.timeout.ms" Int = "60000", min(1), ReadOnly, STREAMS, "Longest a group may set, in ms.";
    "group.streams.heartbeat.interval.ms" Int = "5000", min(1), ReadOnly, STREAMS, "Heartbeat interval, in ms.";
    "group.streams.min.heartbeat.interval.ms" Int = "5000", min(1), ReadOnly, STREAMS, "Shortest a group may set, in ms.";
    "group.streams.max.heartbeat.interval.ms" Int = "15000", min(1), ReadOnly, STREAMS, "Longest a group may set, in ms.";
    "group.streams.max.size" Int = "2147483647", min(1), ReadOnly, STREAMS, "Members of a streams group.";
    "group.streams.num.standby.replicas" Int = "0", min(0), ReadOnly, STREAMS, "Standby copies of each task.";
    "group.streams.max.standby.replicas" Int = "2", min(0), ReadOnly, STREAMS, "Most a group may set.";
    "group.streams.initial.rebalance.delay.ms" Int = "3000", min(0), ReadOnly, STREAMS,
        "How long an empty group waits for more members, in ms.";
    "group.streams.assignment.interval.ms" Int = "1000", min(0), ClusterWide, STREAMS,
        "Shortest time between two assignments of a group, in ms.";
    "group.streams.min.assignment.interval.ms" Int = "0", min(0), ReadOnly, STREAMS, "Shortest a group may set, in ms.";
    "group.streams.max.assignment.interval.ms" Int = "15000", min(0), ReadOnly, STREAMS, "Longest a group may set, in ms.";
    "group.streams.assignor.offload.enable" Boolean = "true", ANY, ClusterWide, STREAMS,
        "Whether assignments are computed on other threads.";
    "group.streams.assignors" List = "sticky", ANY, ReadOnly, STREAMS, "Assignors, the first is the default.";
    "group.streams.num.warmup.replicas" Int = "2", min(0), ReadOnly, STREAMS, "Tasks warming up at a time.";
    "group.streams.max.warmup.replicas" Int = "20", min(0), ReadOnly, STREAMS, "Most a group may set.";
    "group.streams.task.offset.interval.ms" Int = "60000", min(1), ReadOnly, STREAMS,
        "Time between two reports of task offsets, in ms.";
    "group.streams.acceptable.recovery.lag" Long = "10000", min(0), ReadOnly, STREAMS,
        "Records a task may be behind and count as caught up.";
    "group.streams.rack.aware.assignment.tags" List = "", ANY, ReadOnly, STREAMS,
        "Client tags that spread standby copies.";
    "group.streams.topology.description.plugin.class" Class, ANY, ReadOnly, JAVA,
        "Class that keeps topology descriptions (KIP-1331).";
};
