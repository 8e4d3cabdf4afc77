//! [`Image`]: the whole state.

use std::collections::{BTreeMap, BTreeSet};

use protocol::types::{Str, Uuid};

use super::removed::RemovedTopics;
use super::{Broker, Partition, Topic};
use crate::config::topic::Overrides;
use crate::config::values::Layer;

/// Kafka's number of the resource type TOPIC.
pub const RESOURCE_TOPIC: i8 = 2;
/// Kafka's number of the resource type BROKER.
pub const RESOURCE_BROKER: i8 = 4;
/// Kafka's number of the resource type BROKER_LOGGER.
pub const RESOURCE_BROKER_LOGGER: i8 = 8;
/// Kafka's number of the resource type CLIENT_METRICS.
pub const RESOURCE_CLIENT_METRICS: i8 = 16;
/// Kafka's number of the resource type GROUP.
pub const RESOURCE_GROUP: i8 = 32;

/// The metadata at an offset.
///
/// Each shard owns a copy, got once and then brought forward by [`Image::apply_delta`]; nothing else changes it. Two
/// images at the same offset are equal.
#[derive(Debug, Clone, PartialEq)]
pub struct Image {
    /// Offset of the last record in it; -1 for none.
    pub offset: i64,
    /// Term in which that record was written.
    pub epoch: i32,
    /// Id of the cluster.
    pub cluster_id: Str,
    /// Registered brokers.
    pub brokers: BTreeMap<i32, Broker>,
    /// First producer id that no block holds yet.
    pub next_producer_id: i64,
    pub(super) topics: BTreeMap<Uuid, Topic>,
    pub(super) topic_ids: BTreeMap<Str, Uuid>,
    /// Names of topics by that of their metrics, where it may be another topic's too: those with a dot or an underscore.
    pub(super) metric_topics: BTreeMap<Str, Str>,
    pub(super) partition_count: usize,
    pub(super) removed: RemovedTopics,
    pub(super) features: BTreeMap<Str, i16>,
    /// Configs of everything but topics, by resource type and name.
    pub(super) configs: BTreeMap<(i8, Str), Overrides>,
}

impl Image {
    /// The image before the first record.
    pub fn empty(cluster_id: Str) -> Self {
        Self {
            offset: -1,
            epoch: 0,
            cluster_id,
            brokers: BTreeMap::new(),
            next_producer_id: 0,
            topics: BTreeMap::new(),
            topic_ids: BTreeMap::new(),
            metric_topics: BTreeMap::new(),
            partition_count: 0,
            removed: RemovedTopics::default(),
            features: BTreeMap::new(),
            configs: BTreeMap::new(),
        }
    }

    /// The topic of that name. Costs two map lookups.
    pub fn topic(&self, name: &str) -> Option<&Topic> {
        self.topics.get(self.topic_ids.get(name)?)
    }

    /// The topic of that id.
    pub fn topic_by_id(&self, id: Uuid) -> Option<&Topic> {
        self.topics.get(&id)
    }

    /// All topics, by name.
    pub fn topics(&self) -> impl Iterator<Item = &Topic> {
        self.topic_ids.values().filter_map(|id| self.topics.get(id))
    }

    /// The topic whose metrics have this name (see [`metric_name`](super::metric_name)), if another topic's could have it too.
    pub fn topic_of_metric(&self, metric_name: &str) -> Option<&Str> {
        self.metric_topics.get(metric_name)
    }

    /// Names of topics from `first` on, in order.
    pub fn topic_names_from<'a>(&'a self, first: &str) -> impl Iterator<Item = &'a str> {
        let range = (std::ops::Bound::Included(Str::from(first)), std::ops::Bound::Unbounded);
        self.topic_ids.range(range).map(|(name, _)| name.as_str())
    }

    /// Ids of topics that were deleted, the last [`REMOVED_TOPICS_MAX`](crate::metadata::limits::REMOVED_TOPICS_MAX) of them. Copies them.
    pub fn removed_topics(&self) -> BTreeSet<Uuid> {
        self.removed.ids()
    }

    /// How many topics there are.
    pub fn topic_count(&self) -> usize {
        self.topics.len()
    }

    /// How many partitions all topics have together.
    pub fn partition_count(&self) -> usize {
        self.partition_count
    }

    /// The partition of a topic.
    pub fn partition(&self, topic: Uuid, index: i32) -> Option<&Partition> {
        self.topics.get(&topic)?.partition(index)
    }

    /// Those of a partition's replicas that don't serve: their broker isn't one of `alive`, or the log directory they are in is offline.
    pub fn offline_replicas(&self, partition: &Partition, alive: &BTreeSet<i32>) -> Vec<i32> {
        let is_online = |id: &i32| {
            let directory = partition.directory_of(*id);
            alive.contains(id) && self.brokers.get(id).is_none_or(|broker| broker.has_online_dir(directory))
        };
        partition.replicas.iter().copied().filter(|id| !is_online(id)).collect()
    }

    /// The finalised level of a feature; 0 if it isn't finalised.
    pub fn feature(&self, name: &str) -> i16 {
        self.features.get(name).copied().unwrap_or_default()
    }

    /// All finalised features above 0, by name.
    pub fn features(&self) -> impl Iterator<Item = (&Str, i16)> {
        self.features.iter().map(|(name, level)| (name, *level))
    }

    /// What is set on a resource that is no topic; for brokers, the empty name means all of them.
    pub fn configs(&self, resource_type: i8, name: &str) -> Option<&Overrides> {
        self.configs.get(&(resource_type, Str::from(name)))
    }

    /// Names of the resources of that type that have configs; of topics there is more to know, see [`Image::topics`].
    pub fn configured(&self, resource_type: i8) -> impl Iterator<Item = &Str> {
        let all = self.configs.keys().filter(move |(kind, _)| *kind == resource_type);
        all.map(|(_, name)| name)
    }

    /// What was set on a broker while it ran, and on all: for [`set_dynamic`](crate::config::BrokerValues::set_dynamic).
    pub fn dynamic_broker_configs(&self, node_id: i32) -> (Layer, Layer) {
        let layer = |name: &str| -> Layer {
            let set = self.configs(RESOURCE_BROKER, name).into_iter().flatten();
            set.map(|(name, text)| (name.to_string(), text.to_string())).collect()
        };
        (layer(&node_id.to_string()), layer(""))
    }
}
