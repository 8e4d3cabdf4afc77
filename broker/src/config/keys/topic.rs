//! Configs of topics, with the broker configs that stand in when a topic doesn't set them.

use super::keys;
use super::reason::*;
use super::rules::*;
use crate::config::key::ConfigKey;

/// A broker config whose value a topic takes when it sets none itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Synonym {
    /// Name of the broker config.
    pub name: &'static str,
    /// What its value is multiplied by to have the topic config's unit.
    pub factor: i64,
    /// Whether any negative value means -1, for ever.
    pub or_forever: bool,
}

/// A topic config.
#[derive(Debug, Clone, Copy)]
pub struct TopicKey {
    /// Name, type, rule and the rest.
    pub key: &'static ConfigKey,
    /// Broker configs that stand in, the first that is set wins.
    pub synonyms: &'static [Synonym],
}

/// All topic configs, by name.
pub fn all_topic() -> impl Iterator<Item = TopicKey> {
    KEYS.iter().map(|key| TopicKey { key, synonyms: synonyms(key.name) })
}

/// The topic config of that name.
pub fn topic(name: &str) -> Option<TopicKey> {
    KEYS.iter().find(|key| key.name == name).map(|key| TopicKey { key, synonyms: synonyms(key.name) })
}

const fn same(name: &'static str) -> Synonym {
    Synonym { name, factor: 1, or_forever: false }
}

const fn hours(name: &'static str) -> Synonym {
    Synonym { name, factor: 3_600_000, or_forever: false }
}

const fn or_forever(name: &'static str, factor: i64) -> Synonym {
    Synonym { name, factor, or_forever: true }
}

fn synonyms(topic_config: &str) -> &'static [Synonym] {
    let row = SYNONYMS.iter().find(|(name, _)| *name == topic_config);
    row.map_or(&[], |(_, synonyms)| synonyms)
}

#[rustfmt::skip]
static SYNONYMS: &[(&str, &[Synonym])] = &[
    ("cleanup.policy", &[same("log.cleanup.policy")]),
    ("compression.gzip.level", &[same("compression.gzip.level")]),
    ("compression.lz4.level", &[same("compression.lz4.level")]),
    ("compression.type", &[same("compression.type")]),
    ("compression.zstd.level", &[same("compression.zstd.level")]),
    ("delete.retention.ms", &[same("log.cleaner.delete.retention.ms")]),
    ("file.delete.delay.ms", &[same("log.segment.delete.delay.ms")]),
    ("flush.messages", &[same("log.flush.interval.messages")]),
    ("flush.ms", &[same("log.flush.interval.ms"), same("log.flush.scheduler.interval.ms")]),
    ("index.interval.bytes", &[same("log.index.interval.bytes")]),
    ("local.retention.bytes", &[same("log.local.retention.bytes")]),
    ("local.retention.ms", &[same("log.local.retention.ms")]),
    ("max.compaction.lag.ms", &[same("log.cleaner.max.compaction.lag.ms")]),
    ("max.decompressed.message.bytes", &[same("max.decompressed.message.bytes")]),
    ("max.message.bytes", &[same("message.max.bytes")]),
    ("message.timestamp.after.max.ms", &[same("log.message.timestamp.after.max.ms")]),
    ("message.timestamp.before.max.ms", &[same("log.message.timestamp.before.max.ms")]),
    ("message.timestamp.type", &[same("log.message.timestamp.type")]),
    ("min.cleanable.dirty.ratio", &[same("log.cleaner.min.cleanable.ratio")]),
    ("min.compaction.lag.ms", &[same("log.cleaner.min.compaction.lag.ms")]),
    ("min.insync.replicas", &[same("min.insync.replicas")]),
    ("preallocate", &[same("log.preallocate")]),
    ("remote.copy.lag.bytes", &[same("log.remote.copy.lag.bytes")]),
    ("remote.copy.lag.ms", &[same("log.remote.copy.lag.ms")]),
    ("retention.bytes", &[same("log.retention.bytes")]),
    ("retention.ms", &[
        or_forever("log.retention.ms", 1),
        or_forever("log.retention.minutes", 60_000),
        or_forever("log.retention.hours", 3_600_000),
    ]),
    ("ringlog.acks.all.sync", &[same("ringlog.acks.all.sync")]),
    ("segment.bytes", &[same("log.segment.bytes")]),
    ("segment.index.bytes", &[same("log.index.size.max.bytes")]),
    ("segment.jitter.ms", &[same("log.roll.jitter.ms"), hours("log.roll.jitter.hours")]),
    ("segment.ms", &[same("log.roll.ms"), hours("log.roll.hours")]),
    ("unclean.leader.election.enable", &[same("unclean.leader.election.enable")]),
];

// The effects of names that act here are also those of the broker configs that stand in for them.
static KEYS: &[ConfigKey] = keys! {
    "cleanup.policy" List = "delete", CLEANUP_POLICY, ClusterWide, ACTS,
        "What happens to old records: delete, compact, both, or with an empty list nothing.";
    "compression.gzip.level" Int = "-1", GZIP_LEVEL, ClusterWide, ACTS, "Level if compression.type is gzip.";
    "compression.lz4.level" Int = "9", between(1, 17), ClusterWide, ACTS, "Level if compression.type is lz4.";
    "compression.type" String = "producer", COMPRESSION, ClusterWide, ACTS,
        "How batches are stored: as the producer compressed them, or recompressed by this codec.";
    "compression.zstd.level" Int = "3", between(-131_072, 22), ClusterWide, ACTS,
        "Level if compression.type is zstd.";
    "delete.retention.ms" Long = "86400000", min(0), ClusterWide, ACTS,
        "How long tombstones stay in a compacted log, in ms.";
    "errors.deadletterqueue.group.enable" Boolean = "false", ANY, ClusterWide, SHARE,
        "Whether share groups may write records here that they gave up (KIP-1191).";
    "file.delete.delay.ms" Long = "60000", min(0), ClusterWide, ACTS,
        "How long a deleted segment's files stay, in ms.";
    "flush.messages" Long = "9223372036854775807", min(1), ClusterWide, ACTS,
        "Sync the log after this many records.";
    "flush.ms" Long = "9223372036854775807", min(0), ClusterWide, ACTS,
        "Sync the log when a record has been unsynced this long, in ms.";
    "follower.replication.throttled.replicas" List = "", THROTTLED, ClusterWide, REPLICATION,
        "Follower replicas whose replication is throttled, as partition:broker, or *.";
    "index.interval.bytes" Int = "4096", min(0), ClusterWide, ACTS,
        "Log bytes between two entries of the offset index.";
    "internal.segment.bytes" Int, min(14), ClusterWide, ACTS,
        "For tests: segment.bytes without its lower limit, in bytes.";
    "leader.replication.throttled.replicas" List = "", THROTTLED, ClusterWide, REPLICATION,
        "Leader replicas whose replication is throttled, as partition:broker, or *.";
    "local.retention.bytes" Long = "-2", min(-2), ClusterWide, TIERED,
        "Bytes of a tiered partition kept locally; -2 takes retention.bytes.";
    "local.retention.ms" Long = "-2", min(-2), ClusterWide, TIERED,
        "How long records of a tiered partition are kept locally, in ms; -2 takes retention.ms.";
    "max.compaction.lag.ms" Long = "9223372036854775807", min(1), ClusterWide, ACTS,
        "A record is compacted at the latest when this old, in ms.";
    "max.decompressed.message.bytes" Int = "2147483639", min(1), ClusterWide, DECOMPRESSION,
        "Largest size of a record batch when decompressed, in bytes.";
    "max.message.bytes" Int = "1048588", min(0), ClusterWide, ACTS, "Largest record batch accepted, in bytes.";
    "message.timestamp.after.max.ms" Long = "3600000", min(0), ClusterWide, ACTS,
        "How far a record's timestamp may lie ahead of the broker's clock, in ms.";
    "message.timestamp.before.max.ms" Long = "9223372036854775807", min(0), ClusterWide, ACTS,
        "How far a record's timestamp may lie behind the broker's clock, in ms.";
    "message.timestamp.type" String = "CreateTime", TIMESTAMP_TYPE, ClusterWide, ACTS,
        "Whose clock stamps records: the producer's or the broker's at append.";
    "min.cleanable.dirty.ratio" Double = "0.5", UNIT, ClusterWide, ACTS,
        "Compact a log when this fraction of it is uncompacted.";
    "min.compaction.lag.ms" Long = "0", min(0), ClusterWide, ACTS,
        "A record is compacted at the earliest when this old, in ms.";
    "min.insync.replicas" Int = "1", min(1), ClusterWide, REPLICATION,
        "In-sync replicas that acks=all needs; never more than there are replicas.";
    "preallocate" Boolean = "false", ANY, ClusterWide, STORAGE,
        "Whether new segments are preallocated; space is always reserved ahead here.";
    "remote.copy.lag.bytes" Long = "-1", min(-1), ClusterWide, TIERED,
        "Newest bytes that aren't uploaded yet (KIP-1241).";
    "remote.copy.lag.ms" Long = "0", min(-1), ClusterWide, TIERED,
        "How old a segment must be to be uploaded, in ms (KIP-1241).";
    "remote.log.copy.disable" Boolean = "false", ANY, ClusterWide, TIERED,
        "Stops uploading to the object store; what is there stays readable.";
    "remote.log.delete.on.disable" Boolean = "false", ANY, ClusterWide, TIERED,
        "Whether uploaded data is deleted when tiering is switched off.";
    "remote.storage.enable" Boolean = "false", ANY, ClusterWide, TIERED,
        "Whether closed segments are uploaded to the object store.";
    "retention.bytes" Long = "-1", ANY, ClusterWide, ACTS,
        "Largest size of a partition before its oldest segments are deleted, in bytes; -1 for no limit.";
    "retention.ms" Long = "604800000", min(-1), ClusterWide, ACTS,
        "How long records are kept, in ms; -1 for ever.";
    "ringlog.acks.all.sync" Boolean = "true", ANY, ClusterWide, ACTS,
        "Whether acks=all means synced to the disks of the in-sync replicas, or only written, as in Kafka.";
    "segment.bytes" Int = "1073741824", SEGMENT_BYTES, ClusterWide, ACTS, "Largest size of a segment, in bytes.";
    "segment.index.bytes" Int = "10485760", min(4), ClusterWide, ACTS, "Largest size of an index file, in bytes.";
    "segment.jitter.ms" Long = "0", min(0), ClusterWide, ACTS,
        "Up to this much is subtracted from segment.ms at random, in ms.";
    "segment.ms" Long = "604800000", min(1), ClusterWide, ACTS, "Age at which a segment is closed, in ms.";
    "unclean.leader.election.enable" Boolean = "false", ANY, ClusterWide, REPLICATION,
        "Whether a replica that isn't in sync may become leader, losing records.";
};
