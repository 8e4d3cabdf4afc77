//! Configs that Kafka doesn't have.

use super::keys;
use super::reason::*;
use super::rules::*;
use crate::config::key::ConfigKey;

pub(super) static KEYS: &[ConfigKey] = keys! {
    "ringlog.shards" Int = "0", between(0, 1_024), ReadOnly, ACTS,
        "Shards, one thread each; 0 takes as many as cores may be used. Above the cores they aren't pinned.";
    "ringlog.io.engine" String = "ring", IO_ENGINE, ReadOnly, ACTS,
        "What shards run on: ring, one io_uring a shard, or glommio, its executor and three rings a shard, which costs more for each message.";
    "ringlog.direct.io" Boolean = "true", ANY, ReadOnly, ACTS,
        "Whether segments bypass the page cache; without direct I/O a node doesn't start unless this is false.";
    "ringlog.journal.bytes" Long = "67108864", between(0, 4_294_967_296), ReadOnly, ACTS,
        "Disk space of each shard's journal in each log directory, which it takes as it needs it, in bytes; 0 for none: then each partition is written and synced by itself.";
    "ringlog.journal.direct.bytes" Int = "131072", between(4_096, 1_048_576), ReadOnly, ACTS,
        "A partition with so many bytes to write goes past the journal; and so many bytes of one partition go from the journal to its segment at once.";
    "ringlog.journal.max.age.ms" Long = "10000", between(1, 3_600_000), ReadOnly, ACTS,
        "How long records may be in the journal only, before they are in their segments too, in ms.";
    "ringlog.acks.all.sync" Boolean = "true", ANY, ClusterWide, ACTS,
        "Whether acks=all means synced to the disks of the in-sync replicas, or only written, as in Kafka.";
    "ringlog.disk.full.percent" Int = "95", between(1, 100), ReadOnly, ACTS,
        "Producers' writes are refused, with KAFKA_STORAGE_ERROR, when so much of the log directory's disk is used, until 1 percent less is; reads, deletions and retention go on.";
    "ringlog.disk.enough.bytes" Long = "17179869184", min(0), ReadOnly, ACTS,
        "While so many bytes are free, no write is refused for ringlog.disk.full.percent: of a large disk that share may be much.";
    "ringlog.disk.ballast.bytes" Long = "16777216", between(0, 1_099_511_627_776), ReadOnly, ACTS,
        "Space that is kept in a file of each log directory, and given up when nothing is free, so that deletions can be written down, in bytes; 0 for none.";
    "ringlog.produce.validation" String = "full", PRODUCE_VALIDATION, ReadOnly, ACTS,
        "full decompresses and walks every batch, as Kafka does; header checks headers and CRC of compressed ones only.";
    "ringlog.admin.listen" String = "", HOST_AND_PORT, ReadOnly, ACTS,
        "HOST:PORT of the admin HTTP endpoint with /metrics, /healthz, /readyz and /placement, which asks nobody who they are; empty for none.";
    "ringlog.memory.max.bytes" Long = "0", min(0), ReadOnly, ACTS,
        "Memory for requests (half), answers (a quarter) and what isn't written yet (an eighth), in bytes, all shards together, at least 32 MiB each; 0 for 512 MiB a shard.";
    "ringlog.cache.max.bytes" Long = "0", min(0), ReadOnly, ACTS,
        "Memory for the latest records and for what was last read from segments, in bytes, all shards together, taken as there is something to keep; 0 for 1/32 of the memory that the process may use.";
};
