//! The broker's configuration, typed.

use std::path::PathBuf;
use std::time::Duration;

use rt::Engine;

use super::error::{ConfigError, ConfigErrors};
use super::listener::{Listener, ListenerTexts};
use super::safety::unsafe_to_serve;
use super::topic::{self, TopicConfig};
use super::value;
use super::values::{BrokerValues, Source};
use crate::group::GroupConfig;

/// What acts, typed; everything else is in `values`. Made once at start; `Clone + Send`, each shard holds its own.
#[derive(Debug, Clone)]
pub struct BrokerConfig {
    /// `node.id`.
    pub node_id: i32,
    /// `broker.rack`.
    pub rack: Option<String>,
    /// `listeners` to open, those of the controller left out.
    pub listeners: Vec<Listener>,
    /// `advertised.listeners`, one for each of `listeners` in the same order. A port of 0 stands for the port that
    /// the listener got.
    pub advertised_listeners: Vec<Listener>,
    /// `log.dirs`, or `log.dir`; at least one.
    pub log_dirs: Vec<PathBuf>,
    /// `metadata.log.dir`, or the first log directory.
    pub metadata_log_dir: PathBuf,
    /// `metadata.log.max.record.bytes.between.snapshots`.
    pub metadata_snapshot_bytes: u64,
    /// How topics come and go.
    pub topics: TopicCreation,
    /// What topics have that don't say otherwise.
    pub topic_defaults: TopicConfig,
    /// Groups and their offsets.
    pub groups: GroupConfig,
    /// `__consumer_offsets`.
    pub offsets_topic: OffsetsTopic,
    /// Connections and requests.
    pub network: NetworkLimits,
    /// `producer.id.expiration.check.interval.ms`.
    pub producer_id_expiration_check_interval_ms: i32,
    /// `log.retention.check.interval.ms`.
    pub retention_check_interval: Duration,
    /// `log.initial.task.delay.ms`.
    pub initial_task_delay: Duration,
    /// What Kafka doesn't have.
    pub ringlog: RinglogConfig,
    /// All values as text, with their sources.
    pub values: BrokerValues,
}

/// How topics come and go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TopicCreation {
    /// `auto.create.topics.enable`.
    pub auto_create: bool,
    /// `delete.topic.enable`.
    pub delete_enable: bool,
    /// `num.partitions`.
    pub num_partitions: i32,
    /// `default.replication.factor`.
    pub default_replication_factor: i16,
}

/// How `__consumer_offsets` is created.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OffsetsTopic {
    /// `offsets.topic.num.partitions`.
    pub num_partitions: i32,
    /// `offsets.topic.replication.factor`, if it was set; otherwise 3 or as many as there are brokers.
    pub replication_factor: Option<i16>,
    /// `offsets.topic.segment.bytes`.
    pub segment_bytes: i32,
}

/// Limits of connections and requests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NetworkLimits {
    /// `socket.request.max.bytes`.
    pub request_max_bytes: usize,
    /// `connections.max.idle.ms`; none for ever.
    pub connections_max_idle: Option<Duration>,
    /// `fetch.max.bytes`.
    pub fetch_max_bytes: usize,
    /// `max.incremental.fetch.session.cache.slots`, all shards together.
    pub fetch_sessions_max: usize,
}

/// How much of a batch is checked on produce (`ringlog.produce.validation`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ProduceValidation {
    /// Every record, compressed ones by streaming decompression, as Kafka does.
    #[default]
    Full,
    /// Header and CRC only, where records are compressed.
    Header,
}

/// What Kafka doesn't have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RinglogConfig {
    /// `ringlog.shards`; none takes as many as cores may be used.
    pub shards: Option<u16>,
    /// `ringlog.direct.io`.
    pub direct_io: bool,
    /// `ringlog.journal.bytes`, of each shard.
    pub journal_bytes: u64,
    /// `ringlog.journal.direct.bytes`.
    pub journal_direct_bytes: usize,
    /// `ringlog.io.engine`.
    pub engine: Engine,
    /// `ringlog.journal.max.age.ms`.
    pub journal_age_max: Duration,
    /// `ringlog.disk.full.percent`.
    pub disk_full_percent: u64,
    /// `ringlog.disk.enough.bytes`.
    pub disk_enough_bytes: u64,
    /// `ringlog.disk.ballast.bytes`.
    pub disk_ballast_bytes: u64,
    /// `ringlog.produce.validation`.
    pub produce_validation: ProduceValidation,
    /// `ringlog.memory.max.bytes`, all shards together; none for the default of each shard.
    pub memory_max_bytes: Option<u64>,
    /// `ringlog.cache.max.bytes`, all shards together; none for the default of each shard.
    pub cache_max_bytes: Option<u64>,
    /// `ringlog.admin.listen`; none for no endpoint.
    pub admin_listen: Option<Listener>,
}

impl BrokerConfig {
    /// Types checked values.
    ///
    /// # Errors
    /// Values that contradict each other, and addresses that make no sense; all that were found.
    pub fn new(values: BrokerValues, host_name: &str) -> Result<Self, ConfigErrors> {
        let mut errors = Vec::new();
        let texts = ListenerTexts {
            listeners: values.text("listeners"),
            advertised: values.get("advertised.listeners").map(|(text, _)| text),
            protocol_map: values.text("listener.security.protocol.map"),
            controller_names: values.text("controller.listener.names"),
            host_name,
        };
        let listeners = texts.resolve().map_err(|error| errors.push(error)).unwrap_or_default();
        let log_dirs = log_dirs(&values).map_err(|error| errors.push(error)).unwrap_or_default();
        let node_id = node_id(&values).map_err(|error| errors.push(error)).unwrap_or_default();
        let groups = groups(&values).map_err(|error| errors.push(error)).ok();
        let offsets_topic = offsets_topic(&values).map_err(|error| errors.push(error)).ok();
        errors.extend(unsafe_to_serve(&values, node_id));
        let (Some(groups), Some(offsets_topic), true) = (groups, offsets_topic, errors.is_empty()) else {
            return Err(ConfigErrors(errors));
        };
        let first_dir = log_dirs.first().cloned().unwrap_or_default();
        Ok(Self {
            node_id,
            rack: values.get("broker.rack").map(|(text, _)| text.trim().to_string()),
            listeners: listeners.open,
            advertised_listeners: listeners.advertised,
            metadata_log_dir: values
                .get("metadata.log.dir")
                .map_or(first_dir, |(text, _)| text.trim().into()),
            metadata_snapshot_bytes: unsigned(&values, "metadata.log.max.record.bytes.between.snapshots"),
            log_dirs,
            topics: topics(&values),
            topic_defaults: TopicConfig::resolve(&Default::default(), &values),
            groups,
            offsets_topic,
            network: network(&values),
            producer_id_expiration_check_interval_ms: int(
                &values,
                "producer.id.expiration.check.interval.ms",
            ),
            retention_check_interval: millis(&values, "log.retention.check.interval.ms"),
            initial_task_delay: millis(&values, "log.initial.task.delay.ms"),
            ringlog: ringlog(&values),
            values,
        })
    }
}

impl Default for BrokerConfig {
    /// A lone broker without any configuration.
    fn default() -> Self {
        match Self::new(BrokerValues::default(), "localhost") {
            Ok(config) => config,
            Err(errors) => unreachable!("the defaults contradict each other: {errors}"),
        }
    }
}

/// A number in the range its key allows: checked before it came here, so that 0 is never taken.
fn long(values: &BrokerValues, name: &str) -> i64 {
    value::as_long(values.text(name)).unwrap_or_default()
}

fn int(values: &BrokerValues, name: &str) -> i32 {
    i32::try_from(long(values, name)).unwrap_or_default()
}

fn unsigned(values: &BrokerValues, name: &str) -> u64 {
    u64::try_from(long(values, name)).unwrap_or_default()
}

fn size(values: &BrokerValues, name: &str) -> usize {
    usize::try_from(long(values, name)).unwrap_or_default()
}

fn millis(values: &BrokerValues, name: &str) -> Duration {
    Duration::from_millis(unsigned(values, name))
}

fn boolean(values: &BrokerValues, name: &str) -> bool {
    value::boolean(values.text(name)).unwrap_or_default()
}

fn node_id(values: &BrokerValues) -> Result<i32, ConfigError> {
    let (node, old) = (values.explicit("node.id"), values.explicit("broker.id"));
    if let (Some((node, _)), Some((old, _))) = (node, old)
        && node.trim() != old.trim()
    {
        return Err(ConfigError::invalid(
            "broker.id",
            old,
            format!("it must be the same as node.id, {node}"),
        ));
    }
    match old {
        Some((old, _)) if node.is_none() && long(values, "broker.id") < 0 => {
            Err(ConfigError::invalid("broker.id", old, "Value must be at least 0"))
        }
        Some(_) if node.is_none() => Ok(int(values, "broker.id")),
        _ => Ok(int(values, "node.id")),
    }
}

fn log_dirs(values: &BrokerValues) -> Result<Vec<PathBuf>, ConfigError> {
    let name = if values.get("log.dirs").is_some() { "log.dirs" } else { "log.dir" };
    let text = values.text(name);
    let dirs = value::list(text);
    let invalid = |why: &str| ConfigError::invalid(name, text, why);
    if dirs.is_empty() || dirs.contains(&"") {
        return Err(invalid("at least one directory is needed, and none may be empty"));
    }
    if dirs.iter().enumerate().any(|(i, dir)| dirs[..i].contains(dir)) {
        return Err(invalid("a directory is named twice"));
    }
    Ok(dirs.into_iter().map(PathBuf::from).collect())
}

fn groups(values: &BrokerValues) -> Result<GroupConfig, ConfigError> {
    let limits = GroupConfig {
        min_session_timeout_ms: int(values, "group.min.session.timeout.ms"),
        max_session_timeout_ms: int(values, "group.max.session.timeout.ms"),
        initial_rebalance_delay_ms: int(values, "group.initial.rebalance.delay.ms"),
        max_size: size(values, "group.max.size"),
        offset_metadata_max_bytes: size(values, "offset.metadata.max.bytes"),
        offsets_retention_ms: long(values, "offsets.retention.minutes") * 60_000,
        offsets_retention_check_interval_ms: long(values, "offsets.retention.check.interval.ms")
            .try_into()
            .unwrap_or(i32::MAX),
        ..GroupConfig::default()
    };
    if limits.min_session_timeout_ms > limits.max_session_timeout_ms {
        let why =
            format!("it must not be above group.max.session.timeout.ms, {}", limits.max_session_timeout_ms);
        let value = limits.min_session_timeout_ms;
        return Err(ConfigError::invalid("group.min.session.timeout.ms", value, why));
    }
    Ok(limits)
}

fn topics(values: &BrokerValues) -> TopicCreation {
    TopicCreation {
        auto_create: boolean(values, "auto.create.topics.enable"),
        delete_enable: boolean(values, "delete.topic.enable"),
        num_partitions: int(values, "num.partitions"),
        default_replication_factor: i16::try_from(int(values, "default.replication.factor"))
            .unwrap_or(i16::MAX),
    }
}

/// Checked by the rules of topics: it would be refused when the first group comes, for ever.
fn offsets_topic(values: &BrokerValues) -> Result<OffsetsTopic, ConfigError> {
    let (segment, text) = ("offsets.topic.segment.bytes", values.text("offsets.topic.segment.bytes"));
    topic::check("segment.bytes", text).map_err(|error| error.of(segment, text))?;
    let factor = values.get("offsets.topic.replication.factor");
    let factor = factor.filter(|(_, source)| *source != Source::Default);
    Ok(OffsetsTopic {
        num_partitions: int(values, "offsets.topic.num.partitions"),
        replication_factor: factor.and_then(|(text, _)| text.trim().parse().ok()),
        segment_bytes: int(values, segment),
    })
}

fn network(values: &BrokerValues) -> NetworkLimits {
    let idle_ms = u64::try_from(long(values, "connections.max.idle.ms"));
    NetworkLimits {
        request_max_bytes: size(values, "socket.request.max.bytes"),
        connections_max_idle: idle_ms.ok().map(Duration::from_millis),
        fetch_max_bytes: size(values, "fetch.max.bytes"),
        fetch_sessions_max: size(values, "max.incremental.fetch.session.cache.slots"),
    }
}

fn ringlog(values: &BrokerValues) -> RinglogConfig {
    let header = values.text("ringlog.produce.validation").trim() == "header";
    RinglogConfig {
        shards: u16::try_from(int(values, "ringlog.shards")).ok().filter(|shards| *shards > 0),
        direct_io: boolean(values, "ringlog.direct.io"),
        // Checked; its names are all there are.
        engine: Engine::named(values.text("ringlog.io.engine").trim()).unwrap_or_default(),
        journal_bytes: unsigned(values, "ringlog.journal.bytes"),
        journal_direct_bytes: size(values, "ringlog.journal.direct.bytes"),
        journal_age_max: millis(values, "ringlog.journal.max.age.ms"),
        disk_full_percent: unsigned(values, "ringlog.disk.full.percent"),
        disk_enough_bytes: unsigned(values, "ringlog.disk.enough.bytes"),
        disk_ballast_bytes: unsigned(values, "ringlog.disk.ballast.bytes"),
        produce_validation: if header { ProduceValidation::Header } else { ProduceValidation::Full },
        memory_max_bytes: Some(unsigned(values, "ringlog.memory.max.bytes")).filter(|bytes| *bytes > 0),
        cache_max_bytes: Some(unsigned(values, "ringlog.cache.max.bytes")).filter(|bytes| *bytes > 0),
        // Empty is no address; anything else was checked.
        admin_listen: Listener::parse(&format!("ADMIN://{}", values.text("ringlog.admin.listen").trim()))
            .ok(),
    }
}
