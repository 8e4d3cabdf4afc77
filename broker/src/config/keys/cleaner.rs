//! The log cleaner.

use super::keys;
use super::reason::*;
use super::rules::*;
use crate::config::key::ConfigKey;

pub(super) static KEYS: &[ConfigKey] = keys! {
    "log.cleaner.enable" Boolean = "true", ANY, ReadOnly, ACTS, "Whether logs are compacted.";
    "log.cleaner.threads" Int = "1", min(0), ClusterWide, THREADS, "Threads that compact.";
    "log.cleaner.dedupe.buffer.size" Long = "134217728", ANY, ClusterWide, ACTS,
        "Memory for the map of keys, in bytes, all shards together.";
    "log.cleaner.io.buffer.size" Int = "524288", min(0), ClusterWide, CLEANER_BUFFER,
        "Memory for reading and writing, in bytes, all threads together.";
    "log.cleaner.io.buffer.load.factor" Double = "0.9", ANY, ClusterWide, ACTS,
        "How full the map of keys may get.";
    "log.cleaner.io.max.bytes.per.second" Double = "1.7976931348623157E308", ANY, ClusterWide, ACTS,
        "Bytes read and written a second, all shards together.";
    "log.cleaner.backoff.ms" Long = "15000", min(0), ClusterWide, ACTS,
        "Time to sleep when nothing is to compact, in ms.";
    "log.cleaner.min.cleanable.ratio" Double = "0.5", UNIT, ClusterWide, ACTS,
        "Compact a log when this fraction of it is uncompacted.";
    "log.cleaner.delete.retention.ms" Long = "86400000", min(0), ClusterWide, ACTS,
        "How long tombstones stay, in ms.";
    "log.cleaner.min.compaction.lag.ms" Long = "0", min(0), ClusterWide, ACTS,
        "A record is compacted at the earliest when this old, in ms.";
    "log.cleaner.max.compaction.lag.ms" Long = "9223372036854775807", min(1), ClusterWide, ACTS,
        "A record is compacted at the latest when this old, in ms.";
};
