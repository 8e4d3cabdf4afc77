//! Tiered storage (KIP-405).

use super::keys;
use super::reason::*;
use super::rules::*;
use crate::config::key::{ConfigKey, Valid};

pub(super) static KEYS: &[ConfigKey] = keys! {
    "log.local.retention.bytes" Long = "-2", min(-2), ClusterWide, TIERED,
        "Bytes of a tiered partition kept locally; -2 takes log.retention.bytes.";
    "log.local.retention.ms" Long = "-2", min(-2), ClusterWide, TIERED,
        "How long records of a tiered partition are kept locally, in ms; -2 takes log.retention.ms.";
    "log.remote.copy.lag.bytes" Long = "-1", min(-1), ClusterWide, TIERED, "Newest bytes that aren't uploaded yet.";
    "log.remote.copy.lag.ms" Long = "0", min(-1), ClusterWide, TIERED,
        "How old a segment must be to be uploaded, in ms.";
    "remote.log.storage.system.enable" Boolean = "false", ANY, ReadOnly, TIERED, "Whether topics may be tiered.";
    "remote.log.storage.manager.class.name" String, ANY, ReadOnly, JAVA, "Class that uploads and fetches.";
    "remote.log.storage.manager.class.path" String, ANY, ReadOnly, JAVA, "Where the class that uploads segments is found.";
    "remote.log.storage.manager.impl.prefix" String = "rsm.config.", NAMED, ReadOnly, TIERED,
        "Prefix of the configs that the class which uploads segments is given.";
    "remote.log.metadata.manager.class.name" String =
        "org.apache.kafka.server.log.remote.metadata.storage.TopicBasedRemoteLogMetadataManager",
        NAMED, ReadOnly, JAVA, "Class that remembers what was uploaded.";
    "remote.log.metadata.manager.class.path" String, ANY, ReadOnly, JAVA,
        "Where the class that keeps the metadata of uploaded segments is found.";
    "remote.log.metadata.manager.impl.prefix" String = "rlmm.config.", NAMED, ReadOnly, TIERED,
        "Prefix of the configs that the class which keeps the metadata of uploaded segments is given.";
    "remote.log.metadata.manager.listener.name" String, ANY, ReadOnly, TIERED,
        "Listener by which the metadata of uploaded segments are kept.";
    "remote.log.metadata.custom.metadata.max.bytes" Int = "128", min(0), ReadOnly, TIERED,
        "Largest metadata of its own that an uploader may attach, in bytes.";
    "remote.log.index.file.cache.total.size.bytes" Long = "1073741824", min(1), ClusterWide, TIERED,
        "Bytes of fetched index files kept.";
    "remote.log.index.file.cache.ttl.ms" Long = "900000", min(1), ReadOnly, TIERED,
        "How long an unused index file is kept, in ms.";
    "remote.log.manager.thread.pool.size" Int = "2", min(1), ReadOnly, THREADS, "Threads of the old kind.";
    "remote.log.manager.copier.thread.pool.size" Int = "10", min(1), ClusterWide, THREADS, "Threads that upload.";
    "remote.log.manager.expiration.thread.pool.size" Int = "10", min(1), ClusterWide, THREADS, "Threads that delete.";
    "remote.log.manager.follower.thread.pool.size" Int = "2", min(1), ClusterWide, THREADS,
        "Threads that follow what leaders uploaded.";
    "remote.log.manager.task.interval.ms" Long = "30000", min(1), ReadOnly, TIERED, "Time between two rounds, in ms.";
    "remote.log.manager.task.retry.backoff.ms" Long = "500", min(1), ReadOnly, TIERED, "First wait after an error, in ms.";
    "remote.log.manager.task.retry.backoff.max.ms" Long = "30000", min(1), ReadOnly, TIERED, "Longest wait, in ms.";
    "remote.log.manager.task.retry.jitter" Double = "0.2", Valid::Ratio(0.0, 0.5), ReadOnly, TIERED,
        "Random part of the wait.";
    "remote.log.reader.threads" Int = "10", min(1), ClusterWide, THREADS, "Threads that fetch.";
    "remote.log.reader.max.pending.tasks" Int = "100", min(1), ReadOnly, TIERED,
        "Fetches waiting for remote.log.reader.threads.";
    "remote.log.manager.copy.max.bytes.per.second" Long = "9223372036854775807", min(1), ClusterWide, TIERED,
        "Bytes uploaded a second.";
    "remote.log.manager.copy.quota.window.num" Int = "11", min(1), ReadOnly, TIERED, "Windows of that quota.";
    "remote.log.manager.copy.quota.window.size.seconds" Int = "1", min(1), ReadOnly, TIERED,
        "Length of a window of the quota for uploads, in s.";
    "remote.log.manager.fetch.max.bytes.per.second" Long = "9223372036854775807", min(1), ClusterWide, TIERED,
        "Bytes fetched a second.";
    "remote.log.manager.fetch.quota.window.num" Int = "11", min(1), ReadOnly, TIERED, "Windows of that quota.";
    "remote.log.manager.fetch.quota.window.size.seconds" Int = "1", min(1), ReadOnly, TIERED,
        "Length of a window of the quota for fetches from the object store, in s.";
    "remote.fetch.max.wait.ms" Int = "500", min(1), ClusterWide, TIERED,
        "How long a fetch waits for the object store, in ms.";
    "remote.list.offsets.request.timeout.ms" Long = "30000", min(1), ClusterWide, TIERED,
        "How long ListOffsets waits for the object store, in ms.";
};
