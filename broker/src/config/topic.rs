//! Topic configs: checking what is set on a topic, and resolving what holds for it.

use std::borrow::Cow;
use std::collections::BTreeMap;

use protocol::types::Str;

use super::error::ConfigError;
use super::keys::{self, Synonym, TopicKey};
use super::value;
use super::values::{BrokerValues, Source};

/// What is set on one topic.
pub type Overrides = BTreeMap<Str, Str>;

/// Which stored form batches take (`compression.type`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CompressionType {
    /// As the producer sent them.
    #[default]
    Producer,
    /// Not compressed.
    Uncompressed,
    /// gzip.
    Gzip,
    /// snappy.
    Snappy,
    /// lz4.
    Lz4,
    /// zstd.
    Zstd,
}

/// What holds for a topic, typed: its own values over the broker's over the defaults.
#[derive(Debug, Clone, PartialEq)]
pub struct TopicConfig {
    /// `cleanup.policy` has `compact`.
    pub compact: bool,
    /// `cleanup.policy` has `delete`.
    pub delete: bool,
    /// `compression.type`.
    pub compression: CompressionType,
    /// `compression.gzip.level`.
    pub gzip_level: i32,
    /// `compression.lz4.level`.
    pub lz4_level: i32,
    /// `compression.zstd.level`.
    pub zstd_level: i32,
    /// `max.message.bytes`.
    pub max_message_bytes: usize,
    /// `message.timestamp.type` is `LogAppendTime`.
    pub log_append_time: bool,
    /// `message.timestamp.before.max.ms`.
    pub timestamp_before_max_ms: i64,
    /// `message.timestamp.after.max.ms`.
    pub timestamp_after_max_ms: i64,
    /// `segment.bytes`, or `internal.segment.bytes`.
    pub segment_bytes: u64,
    /// `segment.ms`.
    pub segment_ms: u64,
    /// `segment.jitter.ms`.
    pub segment_jitter_ms: u64,
    /// `segment.index.bytes`.
    pub segment_index_bytes: u32,
    /// `index.interval.bytes`.
    pub index_interval_bytes: u32,
    /// `retention.ms`; none for ever.
    pub retention_ms: Option<u64>,
    /// `retention.bytes`; none for no limit.
    pub retention_bytes: Option<u64>,
    /// `delete.retention.ms`.
    pub delete_retention_ms: u64,
    /// `file.delete.delay.ms`.
    pub file_delete_delay_ms: u64,
    /// `flush.messages`.
    pub flush_messages: u64,
    /// `flush.ms`.
    pub flush_ms: u64,
    /// `min.compaction.lag.ms`.
    pub min_compaction_lag_ms: u64,
    /// `max.compaction.lag.ms`.
    pub max_compaction_lag_ms: u64,
    /// `min.cleanable.dirty.ratio`.
    pub min_cleanable_dirty_ratio: f64,
    /// `min.insync.replicas`; the effective number is never above that of replicas.
    pub min_insync_replicas: i32,
    /// `unclean.leader.election.enable`.
    pub unclean_leader_election: bool,
    /// `ringlog.acks.all.sync`.
    pub acks_all_sync: bool,
}

/// A topic config's value in force, as answers tell it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Described {
    /// Config name.
    pub name: &'static str,
    /// Value as text; none for null.
    pub value: Option<String>,
    /// Where it comes from.
    pub source: Source,
}

/// Checks one value set on a topic.
///
/// # Errors
/// [`ConfigError::UnknownTopicConfig`], or a value that isn't allowed, with Kafka's text.
pub fn check(name: &str, text: &str) -> Result<(), ConfigError> {
    let topic = keys::topic(name).ok_or_else(|| ConfigError::UnknownTopicConfig(name.into()))?;
    topic.key.check(text)
}

/// Checks a value of a broker config by the rules of the topic configs that it stands in for: the broker config's own may be looser.
///
/// # Errors
/// The value isn't allowed on topics, with Kafka's text and the broker config's name.
pub fn check_stand_in(name: &str, text: &str) -> Result<(), ConfigError> {
    for topic in keys::all_topic() {
        for synonym in topic.synonyms.iter().filter(|synonym| synonym.name == name) {
            topic.key.check(&convert(text, synonym)).map_err(|error| error.of(name, text))?;
        }
    }
    Ok(())
}

/// Checks everything set on a topic, each value and all together.
///
/// # Errors
/// The first fault, by name.
pub fn check_all(overrides: &Overrides, broker: &BrokerValues) -> Result<(), ConfigError> {
    overrides.iter().try_for_each(|(name, text)| check(name, text))?;
    let config = TopicConfig::resolve(overrides, broker);
    if config.min_compaction_lag_ms > config.max_compaction_lag_ms {
        let (min, max) = (config.min_compaction_lag_ms, config.max_compaction_lag_ms);
        return Err(ConfigError::Refused(format!(
            "conflict topic config setting min.compaction.lag.ms ({min}) > max.compaction.lag.ms ({max})"
        )));
    }
    if boolean(overrides, broker, "remote.storage.enable") {
        let why = "Tiered Storage functionality is disabled in the broker. \
                   Topic cannot be configured with remote log storage.";
        return Err(ConfigError::Refused(why.into()));
    }
    Ok(())
}

/// All configs of a topic that are not internal, by name, with their sources.
pub fn describe(overrides: &Overrides, broker: &BrokerValues) -> Vec<Described> {
    let shown = keys::all_topic().filter(|topic| !topic.key.name.starts_with("internal."));
    shown
        .map(|topic| {
            let found = find(topic, overrides, broker);
            let source = found.as_ref().map_or(Source::Default, |(_, source)| *source);
            Described { name: topic.key.name, value: found.map(|(text, _)| text.into_owned()), source }
        })
        .collect()
}

impl TopicConfig {
    /// What holds for a topic with these overrides. Values were checked when they were set; one that isn't
    /// understood all the same, written by a newer version, counts as 0, false or empty.
    pub fn resolve(overrides: &Overrides, broker: &BrokerValues) -> Self {
        let text = |name| text(overrides, broker, name);
        let long = |name| value::as_long(&text(name)).unwrap_or_default();
        let int = |name| i32::try_from(long(name)).unwrap_or_default();
        let limit = |name| u64::try_from(long(name)).ok();
        let size = |name| limit(name).unwrap_or_default();
        let boolean = |name| boolean(overrides, broker, name);
        let cleanup = text("cleanup.policy");
        let policies = value::list(&cleanup);
        Self {
            compact: policies.contains(&"compact"),
            delete: policies.contains(&"delete"),
            compression: CompressionType::of(text("compression.type").trim()),
            gzip_level: int("compression.gzip.level"),
            lz4_level: int("compression.lz4.level"),
            zstd_level: int("compression.zstd.level"),
            max_message_bytes: usize::try_from(long("max.message.bytes")).unwrap_or_default(),
            log_append_time: text("message.timestamp.type").trim() == "LogAppendTime",
            timestamp_before_max_ms: long("message.timestamp.before.max.ms"),
            timestamp_after_max_ms: long("message.timestamp.after.max.ms"),
            segment_bytes: match size("internal.segment.bytes") {
                0 => size("segment.bytes"),
                internal => internal,
            },
            segment_ms: size("segment.ms"),
            segment_jitter_ms: size("segment.jitter.ms"),
            segment_index_bytes: int("segment.index.bytes").unsigned_abs(),
            index_interval_bytes: int("index.interval.bytes").unsigned_abs(),
            retention_ms: limit("retention.ms"),
            retention_bytes: limit("retention.bytes"),
            delete_retention_ms: size("delete.retention.ms"),
            file_delete_delay_ms: size("file.delete.delay.ms"),
            flush_messages: size("flush.messages"),
            flush_ms: size("flush.ms"),
            min_compaction_lag_ms: size("min.compaction.lag.ms"),
            max_compaction_lag_ms: size("max.compaction.lag.ms"),
            min_cleanable_dirty_ratio: value::double(&text("min.cleanable.dirty.ratio")).unwrap_or_default(),
            min_insync_replicas: int("min.insync.replicas"),
            unclean_leader_election: boolean("unclean.leader.election.enable"),
            acks_all_sync: boolean("ringlog.acks.all.sync"),
        }
    }
}

impl CompressionType {
    fn of(text: &str) -> Self {
        match text {
            "uncompressed" => Self::Uncompressed,
            "gzip" => Self::Gzip,
            "snappy" => Self::Snappy,
            "lz4" => Self::Lz4,
            "zstd" => Self::Zstd,
            _ => Self::Producer,
        }
    }
}

fn text<'a>(overrides: &'a Overrides, broker: &'a BrokerValues, name: &str) -> Cow<'a, str> {
    let found = keys::topic(name).and_then(|topic| find(topic, overrides, broker));
    found.map_or(Cow::Borrowed(""), |(text, _)| text)
}

fn boolean(overrides: &Overrides, broker: &BrokerValues, name: &str) -> bool {
    value::boolean(&text(overrides, broker, name)).unwrap_or_default()
}

/// The value in force: the topic's own, else of the first synonym that somebody set, else the default.
fn find<'a>(
    topic: TopicKey,
    overrides: &'a Overrides,
    broker: &'a BrokerValues,
) -> Option<(Cow<'a, str>, Source)> {
    if let Some(text) = overrides.get(topic.key.name) {
        return Some((Cow::Borrowed(text.as_str()), Source::Topic));
    }
    for synonym in topic.synonyms {
        if let Some((text, source)) = broker.explicit(synonym.name) {
            return Some((convert(text, synonym), source));
        }
    }
    topic.key.default.map(|default| (Cow::Borrowed(default), Source::Default))
}

/// A broker config's value in the topic config's unit.
fn convert<'a>(text: &'a str, synonym: &Synonym) -> Cow<'a, str> {
    match value::as_long(text) {
        Some(..0) if synonym.or_forever => Cow::Borrowed("-1"),
        Some(number) if synonym.factor != 1 => Cow::Owned(number.saturating_mul(synonym.factor).to_string()),
        _ => Cow::Borrowed(text),
    }
}
