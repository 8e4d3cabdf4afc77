//! Logs and their directories.

use super::keys;
use super::reason::*;
use super::rules::*;
use crate::config::key::ConfigKey;

pub(super) static KEYS: &[ConfigKey] = keys! {
    "log.dir" List = "data", ANY, ReadOnly, ACTS,
        "Where the data lie, if log.dirs isn't set. Kafka's default is a folder for temporary files.";
    "log.dirs" List, ANY, ReadOnly, ACTS, "Where the data lie: directories between commas, each best on a disk of its own. One that fails takes its partitions offline, the others go on; the metadata are in the first, unless metadata.log.dir says otherwise.";
    "cordoned.log.dirs" List = "", ANY, PerBroker, CORDONED, "Directories that get no new partitions (KIP-1066).";
    "log.segment.bytes" Int = "1073741824", SEGMENT_BYTES, ClusterWide, ACTS,
        "Largest size of a segment, in bytes.";
    "log.roll.ms" Long, min(1), ClusterWide, ACTS, "Age at which a segment is closed, in ms.";
    "log.roll.hours" Int = "168", min(1), ReadOnly, ACTS, "The same in hours, if log.roll.ms isn't set.";
    "log.roll.jitter.ms" Long, min(0), ClusterWide, ACTS,
        "Up to this much is subtracted from a segment's age of closing at random, in ms.";
    "log.roll.jitter.hours" Int = "0", min(0), ReadOnly, ACTS, "The same in hours, if log.roll.jitter.ms isn't set.";
    "log.retention.ms" Long, ANY, ClusterWide, ACTS, "How long records are kept, in ms; -1 for ever.";
    "log.retention.minutes" Int, ANY, ReadOnly, ACTS, "The same in minutes, if log.retention.ms isn't set.";
    "log.retention.hours" Int = "168", ANY, ReadOnly, ACTS,
        "The same in hours, if neither log.retention.ms nor log.retention.minutes is set.";
    "log.retention.bytes" Long = "-1", ANY, ClusterWide, ACTS,
        "Largest size of a partition before its oldest segments are deleted, in bytes; -1 for no limit.";
    "log.retention.check.interval.ms" Long = "300000", min(1), ReadOnly, ACTS,
        "Time between two looks for segments to delete, in ms.";
    "log.cleanup.policy" List = "delete", CLEANUP_POLICY, ClusterWide, ACTS,
        "What happens to old records: delete, compact, both, or with an empty list nothing.";
    "log.index.size.max.bytes" Int = "10485760", min(4), ClusterWide, ACTS,
        "Largest size of an index file, in bytes.";
    "log.index.interval.bytes" Int = "4096", min(0), ClusterWide, ACTS,
        "Log bytes between two entries of the offset index.";
    "log.flush.interval.messages" Long = "9223372036854775807", min(1), ClusterWide, ACTS,
        "Sync a log after this many records.";
    "log.flush.interval.ms" Long, ANY, ClusterWide, ACTS,
        "Sync a log when a record has been unsynced this long, in ms.";
    "log.flush.scheduler.interval.ms" Long = "9223372036854775807", ANY, ReadOnly, ACTS,
        "Stands in for log.flush.interval.ms, in ms.";
    "log.flush.offset.checkpoint.interval.ms" Int = "60000", min(0), ReadOnly, STORAGE,
        "Time between two writes of the recovery points, in ms.";
    "log.flush.start.offset.checkpoint.interval.ms" Int = "60000", min(0), ReadOnly, STORAGE,
        "Time between two writes of the log start offsets, in ms.";
    "log.segment.delete.delay.ms" Long = "60000", min(0), ClusterWide, ACTS,
        "How long a deleted segment's files stay, in ms.";
    "log.preallocate" Boolean = "false", ANY, ClusterWide, STORAGE,
        "Whether new segments are preallocated; space is always reserved ahead here.";
    "log.dir.failure.timeout.ms" Long = "30000", min(1), ReadOnly, DIR_FAILURE,
        "A broker that can't report a failed directory for this long stops, in ms.";
    "log.initial.task.delay.ms" Long = "30000", min(0), ReadOnly, ACTS,
        "Time from start to the first background work on logs, in ms; no longer than the work's own interval.";
    "log.message.timestamp.type" String = "CreateTime", TIMESTAMP_TYPE, ClusterWide, ACTS,
        "Whose clock stamps records: the producer's or the broker's at append.";
    "log.message.timestamp.after.max.ms" Long = "3600000", min(0), ClusterWide, ACTS,
        "How far a record's timestamp may lie ahead of the broker's clock, in ms.";
    "log.message.timestamp.before.max.ms" Long = "9223372036854775807", min(0), ClusterWide, ACTS,
        "How far a record's timestamp may lie behind the broker's clock, in ms.";
    "num.recovery.threads.per.data.dir" Int = "2", min(1), ClusterWide, THREADS,
        "Threads that recover logs at start.";
};
