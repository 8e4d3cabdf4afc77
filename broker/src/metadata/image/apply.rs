//! Records change the image.

use std::borrow::Cow;

use protocol::internal::{
    BrokerRegistrationChangeRecord, ConfigRecord, FeatureLevelRecord, MetadataRecord, PartitionChangeRecord,
    PartitionRecord, RegisterBrokerRecord, RemoveTopicRecord, TopicRecord,
};
use protocol::types::{Str, Uuid};

use super::image_state::RESOURCE_TOPIC;
use super::metric_name::{is_ambiguous, metric_name};
use super::{Broker, Delta, Endpoint, Image, Partition, Topic};

/// `leader` of a [`PartitionChangeRecord`] that doesn't change it.
const NO_LEADER_CHANGE: i32 = -2;

/// A record that doesn't fit the image: the log is damaged, or was written by something else.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ApplyError {
    /// It names a topic that doesn't exist.
    #[error("there is no topic {0}")]
    NoTopic(String),
    /// It names a topic that exists already.
    #[error("topic {0} exists already")]
    TopicExists(Str),
    /// It names a partition that doesn't exist, or would leave a gap before it.
    #[error("there is no partition {1} of topic {0}, nor is it the next one")]
    NoPartition(Str, i32),
    /// It names a broker that isn't registered, or an earlier run of it.
    #[error("broker {0} isn't registered with epoch {1}")]
    NoBroker(i32, i64),
    /// The batch doesn't follow the image.
    #[error("a batch at offset {base_offset} doesn't follow offset {offset}")]
    Gap {
        /// Offset of the image.
        offset: i64,
        /// Offset of the batch.
        base_offset: i64,
    },
    /// A producer id block that was given out before.
    #[error("producer ids from {next} on would be given out twice, the image is at {at}")]
    ProducerIds {
        /// Next id of the image.
        at: i64,
        /// Next id of the record.
        next: i64,
    },
}

impl Image {
    /// Applies a committed batch.
    ///
    /// # Errors
    /// It doesn't follow this image, or a record of it doesn't fit; the image is of no use then.
    pub fn apply_delta(&mut self, delta: &Delta) -> Result<(), ApplyError> {
        if delta.base_offset != self.offset + 1 {
            return Err(ApplyError::Gap { offset: self.offset, base_offset: delta.base_offset });
        }
        delta.records.iter().try_for_each(|record| self.apply(record))?;
        self.offset = delta.last_offset();
        self.epoch = delta.epoch;
        Ok(())
    }

    /// Applies one record, without moving the offset.
    ///
    /// # Errors
    /// The record doesn't fit this image.
    pub fn apply(&mut self, record: &MetadataRecord) -> Result<(), ApplyError> {
        match record {
            MetadataRecord::RegisterBroker(record) => self.register_broker(record),
            MetadataRecord::UnregisterBroker(record) => {
                self.broker(record.broker_id, record.broker_epoch)?;
                self.brokers.remove(&record.broker_id);
            }
            MetadataRecord::Topic(record) => self.add_topic(record)?,
            MetadataRecord::Partition(record) => self.set_partition(record)?,
            MetadataRecord::Config(record) => self.set_config(record)?,
            MetadataRecord::PartitionChange(record) => self.change_partition(record)?,
            MetadataRecord::FenceBroker(record) => self.broker(record.id, record.epoch)?.fenced = true,
            MetadataRecord::UnfenceBroker(record) => self.broker(record.id, record.epoch)?.fenced = false,
            MetadataRecord::RemoveTopic(record) => self.remove_topic(record)?,
            MetadataRecord::FeatureLevel(record) => self.set_feature(record),
            MetadataRecord::ProducerIds(record) => {
                if record.next_producer_id < self.next_producer_id {
                    let (at, next) = (self.next_producer_id, record.next_producer_id);
                    return Err(ApplyError::ProducerIds { at, next });
                }
                self.next_producer_id = record.next_producer_id;
            }
            MetadataRecord::BrokerRegistrationChange(record) => self.change_broker(record)?,
            MetadataRecord::NoOp(_) => {}
        }
        Ok(())
    }

    fn broker(&mut self, id: i32, epoch: i64) -> Result<&mut Broker, ApplyError> {
        let found = self.brokers.get_mut(&id).filter(|broker| broker.epoch == epoch);
        found.ok_or(ApplyError::NoBroker(id, epoch))
    }

    fn register_broker(&mut self, record: &RegisterBrokerRecord) {
        let endpoints = record.end_points.iter().map(|endpoint| Endpoint {
            name: endpoint.name.detached(),
            host: endpoint.host.detached(),
            port: endpoint.port,
            security_protocol: endpoint.security_protocol,
        });
        let broker = Broker {
            id: record.broker_id,
            epoch: record.broker_epoch,
            incarnation_id: record.incarnation_id,
            endpoints: endpoints.collect(),
            rack: record.rack.as_ref().map(Str::detached),
            fenced: record.fenced,
            in_controlled_shutdown: record.in_controlled_shutdown,
            log_dirs: record.log_dirs.clone(),
        };
        self.brokers.insert(broker.id, broker);
    }

    fn change_broker(&mut self, record: &BrokerRegistrationChangeRecord) -> Result<(), ApplyError> {
        let broker = self.broker(record.broker_id, record.broker_epoch)?;
        match record.fenced {
            1 => broker.fenced = true,
            -1 => broker.fenced = false,
            _ => {}
        }
        broker.in_controlled_shutdown |= record.in_controlled_shutdown == 1;
        if !record.log_dirs.is_empty() {
            broker.log_dirs = record.log_dirs.clone();
        }
        Ok(())
    }

    fn add_topic(&mut self, record: &TopicRecord) -> Result<(), ApplyError> {
        // Names outlive the request that they came in with.
        let name = record.name.detached();
        if self.topic_ids.contains_key(&name) || self.topics.contains_key(&record.topic_id) {
            return Err(ApplyError::TopicExists(name));
        }
        self.topic_ids.insert(name.clone(), record.topic_id);
        if is_ambiguous(&name) {
            let metric_name = match metric_name(&name) {
                Cow::Borrowed(_) => name.clone(),
                Cow::Owned(metric_name) => Str::from(metric_name),
            };
            self.metric_topics.insert(metric_name, name.clone());
        }
        let (id, partitions, configs) = (record.topic_id, Vec::new(), Default::default());
        self.topics.insert(id, Topic { name, id, partitions, configs });
        Ok(())
    }

    fn remove_topic(&mut self, record: &RemoveTopicRecord) -> Result<(), ApplyError> {
        let topic = self.topics.remove(&record.topic_id);
        let topic = topic.ok_or_else(|| ApplyError::NoTopic(record.topic_id.to_string()))?;
        self.topic_ids.remove(&topic.name);
        let metric_name = metric_name(&topic.name);
        if self.metric_topics.get(&*metric_name) == Some(&topic.name) {
            self.metric_topics.remove(&*metric_name);
        }
        self.partition_count -= topic.partitions.len();
        self.removed.push(topic.id, topic.name);
        Ok(())
    }

    fn topic_mut(&mut self, id: Uuid) -> Result<&mut Topic, ApplyError> {
        self.topics.get_mut(&id).ok_or_else(|| ApplyError::NoTopic(id.to_string()))
    }

    fn set_partition(&mut self, record: &PartitionRecord) -> Result<(), ApplyError> {
        let partition = Partition {
            replicas: record.replicas.clone(),
            isr: record.isr.clone(),
            leader: record.leader,
            leader_epoch: record.leader_epoch,
            partition_epoch: record.partition_epoch,
            directories: record.directories.clone(),
        };
        let topic = self.topic_mut(record.topic_id)?;
        let gap = || ApplyError::NoPartition(topic.name.clone(), record.partition_id);
        let index = usize::try_from(record.partition_id).map_err(|_| gap())?;
        if index > topic.partitions.len() {
            return Err(gap());
        }
        if index < topic.partitions.len() {
            topic.partitions[index] = partition;
        } else {
            topic.partitions.push(partition);
            self.partition_count += 1;
        }
        Ok(())
    }

    /// A named leader raises the leader epoch even when it is the same as before: that is how a restart is told.
    fn change_partition(&mut self, record: &PartitionChangeRecord) -> Result<(), ApplyError> {
        let topic = self.topic_mut(record.topic_id)?;
        let index = usize::try_from(record.partition_id).unwrap_or(usize::MAX);
        let Some(partition) = topic.partitions.get_mut(index) else {
            return Err(ApplyError::NoPartition(topic.name.clone(), record.partition_id));
        };
        if let Some(isr) = &record.isr {
            partition.isr.clone_from(isr);
        }
        if let Some(replicas) = &record.replicas {
            partition.replicas.clone_from(replicas);
        }
        if let Some(directories) = &record.directories {
            partition.directories.clone_from(directories);
        }
        if record.leader != NO_LEADER_CHANGE {
            partition.leader = record.leader;
            partition.leader_epoch += 1;
        }
        partition.partition_epoch += 1;
        Ok(())
    }

    fn set_config(&mut self, record: &ConfigRecord) -> Result<(), ApplyError> {
        let (name, value) = (record.name.detached(), record.value.as_ref().map(Str::detached));
        if record.resource_type == RESOURCE_TOPIC {
            let id = self.topic_ids.get(&record.resource_name).copied();
            let id = id.ok_or_else(|| ApplyError::NoTopic(record.resource_name.to_string()))?;
            let configs = &mut self.topic_mut(id)?.configs;
            match value {
                Some(value) => configs.insert(name, value),
                None => configs.remove(&name),
            };
            return Ok(());
        }
        let key = (record.resource_type, record.resource_name.detached());
        let configs = self.configs.entry(key.clone()).or_default();
        match value {
            Some(value) => configs.insert(name, value),
            None => configs.remove(&name),
        };
        if configs.is_empty() {
            self.configs.remove(&key);
        }
        Ok(())
    }

    fn set_feature(&mut self, record: &FeatureLevelRecord) {
        if record.feature_level == 0 {
            self.features.remove(&record.name);
        } else {
            self.features.insert(record.name.detached(), record.feature_level);
        }
    }
}
