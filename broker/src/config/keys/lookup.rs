//! Finding a broker config by name.

use super::*;
use crate::config::key::ConfigKey;

/// Names by what they are about.
static TABLES: &[(&str, &[ConfigKey])] = &[
    ("Log cleaner", cleaner::KEYS),
    ("Fetch", fetch::KEYS),
    ("Groups and offsets", group::KEYS),
    ("Node", identity::KEYS),
    ("Metadata quorum", kraft::KEYS),
    ("Logs", log::KEYS),
    ("Network and requests", network::KEYS),
    ("Quotas", quota::KEYS),
    ("Replication", replication::KEYS),
    ("Ringlog", ringlog::KEYS),
    ("Authentication and authorization", sasl::KEYS),
    ("Share groups", share::KEYS),
    ("TLS", ssl::KEYS),
    ("Streams groups", streams::KEYS),
    ("Tiered storage", tiered::KEYS),
    ("Topics", topics::KEYS),
    ("Transactions and producers", transaction::KEYS),
];

/// All broker configs, by subject.
pub fn all_broker() -> impl Iterator<Item = &'static ConfigKey> {
    TABLES.iter().flat_map(|(_, keys)| keys.iter())
}

/// The subjects, each with its broker configs.
pub fn broker_subjects() -> impl Iterator<Item = (&'static str, &'static [ConfigKey])> {
    TABLES.iter().copied()
}

/// The broker config of that name. Walks the table: for start-up and admin requests.
pub fn broker(name: &str) -> Option<&'static ConfigKey> {
    all_broker().find(|key| key.name == name)
}

/// Whether Kafka keeps the name to itself: it is reported only when somebody set it.
pub fn is_internal(name: &str) -> bool {
    INTERNAL.contains(&name)
}

static INTERNAL: &[&str] = &[
    "allow.everyone.if.no.acl.found",
    "follower.replication.throttled.rate",
    "group.consumer.assignor.offload.enable",
    "group.consumer.regex.refresh.interval.ms",
    "group.share.assignor.offload.enable",
    "group.share.initialize.retry.interval.ms",
    "group.streams.acceptable.recovery.lag",
    "group.streams.assignor.offload.enable",
    "group.streams.max.warmup.replicas",
    "group.streams.num.warmup.replicas",
    "group.streams.task.offset.interval.ms",
    "internal.metadata.max.batch.size.in.bytes",
    "leader.replication.throttled.rate",
    "log.initial.task.delay.ms",
    "producer.id.expiration.check.interval.ms",
    "remote.log.index.file.cache.ttl.ms",
    "remote.log.manager.task.retry.backoff.max.ms",
    "remote.log.manager.task.retry.backoff.ms",
    "remote.log.manager.task.retry.jitter",
    "replica.alter.log.dirs.io.max.bytes.per.second",
    "share.coordinator.cold.partition.snapshot.interval.ms",
    "share.coordinator.state.topic.prune.interval.ms",
    "super.users",
    "unclean.leader.election.interval.ms",
    "unstable.api.versions.enable",
    "unstable.feature.versions.enable",
];

/// What `listener.name.NAME.X`, or `listener.name.NAME.MECHANISM.X`, sets for one listener: the key X.
pub fn base_of_listener(name: &str) -> Option<&'static ConfigKey> {
    let (_, rest) = name.strip_prefix("listener.name.")?.split_once('.')?;
    broker(rest).or_else(|| broker(rest.split_once('.')?.1))
}

/// Names known by how they start; what follows is free.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeyFamily {
    /// How the names start.
    pub prefix: &'static str,
    /// Why setting one has no effect here.
    pub reason: &'static str,
}

const FAMILIES: &[KeyFamily] = &[
    KeyFamily { prefix: "listener.name.", reason: "listeners have no configs of their own yet" },
    KeyFamily { prefix: "rsm.config.", reason: "there is no tiered storage yet" },
    KeyFamily { prefix: "rlmm.config.", reason: "there is no tiered storage yet" },
    KeyFamily { prefix: "config.providers.", reason: "Java classes can't be loaded" },
];

/// The family that a name belongs to.
pub fn family(name: &str) -> Option<KeyFamily> {
    FAMILIES.iter().copied().find(|family| name.starts_with(family.prefix))
}
