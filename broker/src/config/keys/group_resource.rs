//! Configs of groups, with the broker configs that stand in when a group doesn't set them and those that bound them.

use super::keys;
use super::reason::*;
use super::rules::*;
use crate::config::error::ConfigError;
use crate::config::key::ConfigKey;
use crate::config::value;
use crate::config::values::BrokerValues;

/// A config of groups.
#[derive(Debug, Clone, Copy)]
pub struct GroupKey {
    /// Name, type, rule and the rest.
    pub key: &'static ConfigKey,
    /// Broker config that stands in.
    pub synonym: Option<&'static str>,
}

/// Broker configs that bound a group's value.
#[derive(Debug, Clone, Copy)]
enum Limit {
    Between(&'static str, &'static str),
    AtMost(&'static str),
}

/// All configs of groups, by name.
pub fn all_group() -> impl Iterator<Item = GroupKey> {
    KEYS.iter().map(|key| GroupKey { key, synonym: synonym(key.name) })
}

/// The config of groups of that name.
pub fn group(name: &str) -> Option<GroupKey> {
    KEYS.iter().find(|key| key.name == name).map(|key| GroupKey { key, synonym: synonym(key.name) })
}

impl GroupKey {
    /// Whether Kafka keeps it to itself: it is reported only when somebody set it.
    pub fn is_internal(&self) -> bool {
        self.synonym.is_some_and(super::is_internal)
    }

    /// Names of the broker configs that bound it from below and above, the lower one if there is one.
    pub fn bounds(&self) -> Option<(Option<&'static str>, &'static str)> {
        LIMITS.iter().find(|(limited, _)| *limited == self.key.name).map(|(_, limit)| match limit {
            Limit::Between(min, max) => (Some(*min), *max),
            Limit::AtMost(max) => (None, *max),
        })
    }

    /// Checks a value, also against what the broker allows groups to set.
    ///
    /// # Errors
    /// What is allowed, in Kafka's words.
    pub fn check(&self, text: &str, broker: &BrokerValues) -> Result<(), ConfigError> {
        self.key.check(text)?;
        let name = self.key.name;
        let number = value::as_long(text).unwrap_or_default();
        let bound = |name: &str| value::as_long(broker.text(name)).unwrap_or_default();
        let limit = LIMITS.iter().find(|(limited, _)| *limited == name).map(|(_, limit)| *limit);
        let fault = match limit {
            Some(Limit::Between(min, max)) if !(bound(min)..=bound(max)).contains(&number) => {
                format!("{name} must be in the range {} to {} inclusive.", bound(min), bound(max))
            }
            Some(Limit::AtMost(max)) if number > bound(max) => {
                format!("{name} must be less than or equal to {}", bound(max))
            }
            _ => return Ok(()),
        };
        Err(ConfigError::Refused(fault))
    }
}

fn synonym(name: &str) -> Option<&'static str> {
    SYNONYMS.iter().find(|(group, _)| *group == name).map(|(_, broker)| *broker)
}

#[rustfmt::skip]
static SYNONYMS: &[(&str, &str)] = &[
    ("consumer.assignment.interval.ms", "group.consumer.assignment.interval.ms"),
    ("consumer.assignor.offload.enable", "group.consumer.assignor.offload.enable"),
    ("consumer.heartbeat.interval.ms", "group.consumer.heartbeat.interval.ms"),
    ("consumer.session.timeout.ms", "group.consumer.session.timeout.ms"),
    ("share.assignment.interval.ms", "group.share.assignment.interval.ms"),
    ("share.assignor.offload.enable", "group.share.assignor.offload.enable"),
    ("share.delivery.count.limit", "group.share.delivery.count.limit"),
    ("share.heartbeat.interval.ms", "group.share.heartbeat.interval.ms"),
    ("share.partition.max.record.locks", "group.share.partition.max.record.locks"),
    ("share.record.lock.duration.ms", "group.share.record.lock.duration.ms"),
    ("share.session.timeout.ms", "group.share.session.timeout.ms"),
    ("streams.acceptable.recovery.lag", "group.streams.acceptable.recovery.lag"),
    ("streams.assignment.interval.ms", "group.streams.assignment.interval.ms"),
    ("streams.assignor.name", "group.streams.assignors"),
    ("streams.assignor.offload.enable", "group.streams.assignor.offload.enable"),
    ("streams.heartbeat.interval.ms", "group.streams.heartbeat.interval.ms"),
    ("streams.initial.rebalance.delay.ms", "group.streams.initial.rebalance.delay.ms"),
    ("streams.num.standby.replicas", "group.streams.num.standby.replicas"),
    ("streams.num.warmup.replicas", "group.streams.num.warmup.replicas"),
    ("streams.rack.aware.assignment.tags", "group.streams.rack.aware.assignment.tags"),
    ("streams.session.timeout.ms", "group.streams.session.timeout.ms"),
    ("streams.task.offset.interval.ms", "group.streams.task.offset.interval.ms"),
];

#[rustfmt::skip]
static LIMITS: &[(&str, Limit)] = &[
    ("consumer.assignment.interval.ms", Limit::Between("group.consumer.min.assignment.interval.ms", "group.consumer.max.assignment.interval.ms")),
    ("consumer.heartbeat.interval.ms", Limit::Between("group.consumer.min.heartbeat.interval.ms", "group.consumer.max.heartbeat.interval.ms")),
    ("consumer.session.timeout.ms", Limit::Between("group.consumer.min.session.timeout.ms", "group.consumer.max.session.timeout.ms")),
    ("share.assignment.interval.ms", Limit::Between("group.share.min.assignment.interval.ms", "group.share.max.assignment.interval.ms")),
    ("share.delivery.count.limit", Limit::Between("group.share.min.delivery.count.limit", "group.share.max.delivery.count.limit")),
    ("share.heartbeat.interval.ms", Limit::Between("group.share.min.heartbeat.interval.ms", "group.share.max.heartbeat.interval.ms")),
    ("share.partition.max.record.locks", Limit::Between("group.share.min.partition.max.record.locks", "group.share.max.partition.max.record.locks")),
    ("share.record.lock.duration.ms", Limit::Between("group.share.min.record.lock.duration.ms", "group.share.max.record.lock.duration.ms")),
    ("share.session.timeout.ms", Limit::Between("group.share.min.session.timeout.ms", "group.share.max.session.timeout.ms")),
    ("streams.assignment.interval.ms", Limit::Between("group.streams.min.assignment.interval.ms", "group.streams.max.assignment.interval.ms")),
    ("streams.heartbeat.interval.ms", Limit::Between("group.streams.min.heartbeat.interval.ms", "group.streams.max.heartbeat.interval.ms")),
    ("streams.num.standby.replicas", Limit::AtMost("group.streams.max.standby.replicas")),
    ("streams.num.warmup.replicas", Limit::AtMost("group.streams.max.warmup.replicas")),
    ("streams.session.timeout.ms", Limit::Between("group.streams.min.session.timeout.ms", "group.streams.max.session.timeout.ms")),
];

static KEYS: &[ConfigKey] = keys! {
    "consumer.assignment.interval.ms" Int = "1000", min(0), DynamicOnly, NEW_GROUPS,
        "Shortest time between two assignments, in ms.";
    "consumer.assignor.offload.enable" Boolean = "true", ANY, DynamicOnly, NEW_GROUPS,
        "Whether assignments are computed on other threads.";
    "consumer.heartbeat.interval.ms" Int = "5000", min(1), DynamicOnly, NEW_GROUPS,
        "Heartbeat interval of consumers, in ms (KIP-848).";
    "consumer.session.timeout.ms" Int = "45000", min(1), DynamicOnly, NEW_GROUPS,
        "Session timeout of consumers, in ms (KIP-848).";
    "errors.deadletterqueue.copy.record.enable" Boolean = "false", ANY, DynamicOnly, SHARE,
        "Whether records given up are copied whole (KIP-1191).";
    "errors.deadletterqueue.topic.name" String = "", ANY, DynamicOnly, SHARE,
        "Topic for records given up; none if empty.";
    "share.assignment.interval.ms" Int = "1000", min(0), DynamicOnly, SHARE,
        "Shortest time between two assignments, in ms.";
    "share.assignor.offload.enable" Boolean = "true", ANY, DynamicOnly, SHARE,
        "Whether assignments are computed on other threads.";
    "share.auto.offset.reset" String = "latest", OFFSET_RESET, DynamicOnly, SHARE,
        "Where a new share group begins: earliest, latest or by_duration:PERIOD.";
    "share.delivery.count.limit" Int = "5", min(2), DynamicOnly, SHARE, "Deliveries of a record.";
    "share.heartbeat.interval.ms" Int = "5000", min(1), DynamicOnly, SHARE,
        "Heartbeat interval of share consumers, in ms.";
    "share.isolation.level" String = "read_uncommitted", one_of(&["read_committed", "read_uncommitted"]), DynamicOnly, SHARE,
        "Whether records of open and aborted transactions are delivered.";
    "share.partition.max.record.locks" Int = "2000", min(100), DynamicOnly, SHARE,
        "Records of a partition in flight.";
    "share.record.lock.duration.ms" Int = "30000", min(1000), DynamicOnly, SHARE,
        "How long a record is locked for its consumer, in ms.";
    "share.renew.acknowledge.enable" Boolean = "true", ANY, DynamicOnly, SHARE,
        "Whether consumers may renew a lock (KIP-1222).";
    "share.session.timeout.ms" Int = "45000", min(1), DynamicOnly, SHARE,
        "Session timeout of share consumers, in ms.";
    "streams.acceptable.recovery.lag" Long = "10000", min(0), DynamicOnly, STREAMS,
        "Lag up to which a task counts as caught up, in records.";
    "streams.assignment.interval.ms" Int = "1000", min(0), DynamicOnly, STREAMS,
        "Shortest time between two assignments, in ms.";
    "streams.assignor.name" String = "sticky", ASSIGNOR, DynamicOnly, STREAMS, "Assignor of tasks.";
    "streams.assignor.offload.enable" Boolean = "true", ANY, DynamicOnly, STREAMS,
        "Whether assignments are computed on other threads.";
    "streams.heartbeat.interval.ms" Int = "5000", min(1), DynamicOnly, STREAMS,
        "Heartbeat interval of streams clients, in ms.";
    "streams.initial.rebalance.delay.ms" Int = "3000", min(0), DynamicOnly, STREAMS,
        "How long an empty group waits for more members, in ms.";
    "streams.num.standby.replicas" Int = "0", min(0), DynamicOnly, STREAMS, "Standby copies of each task.";
    "streams.num.warmup.replicas" Int = "2", min(0), DynamicOnly, STREAMS, "Tasks warming up at a time.";
    "streams.rack.aware.assignment.tags" List = "", ANY, DynamicOnly, STREAMS,
        "Client tags that standby tasks are spread by.";
    "streams.session.timeout.ms" Int = "45000", min(1), DynamicOnly, STREAMS,
        "Session timeout of streams clients, in ms.";
    "streams.task.offset.interval.ms" Int = "60000", min(15000), DynamicOnly, STREAMS,
        "Time between two reports of task offsets, in ms.";
};
