//! [`KafkaMetadata`]: what the records say together.

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;
use protocol::internal::{METADATA_FRAME_VERSION, MetadataRecord, PartitionChangeRecord, PartitionRecord};
use protocol::types::{Str, Uuid};
use protocol::wire::{DecodeError, Reader};

use super::error::KafkaMetadataError;
use super::untaken::Untaken;
use crate::config::topic::Overrides;
use crate::metadata::features::METADATA_FEATURE;
use crate::metadata::image::RESOURCE_TOPIC;

/// A partition, as the last record about it left it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KafkaPartition {
    /// Nodes that hold a copy.
    pub replicas: Vec<i32>,
    /// Those of them in sync.
    pub isr: Vec<i32>,
    /// Those that left the ISR with all committed records (KIP-966): a node that was stopped as the last one is here.
    pub eligible: Vec<i32>,
    /// Leader epoch: no batch has a later one.
    pub leader_epoch: i32,
    /// Grows with every change.
    pub partition_epoch: i32,
}

/// A topic.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KafkaTopic {
    /// Its name.
    pub name: Str,
    /// By number.
    pub partitions: BTreeMap<i32, KafkaPartition>,
}

/// A cluster's metadata as far as they can be taken over.
///
/// Filled from a snapshot's records and then the log's, in their order ([`Self::apply`]).
#[derive(Debug, Clone, Default, PartialEq)]
pub struct KafkaMetadata {
    /// Topics by id.
    pub topics: BTreeMap<Uuid, KafkaTopic>,
    /// Configs by resource type and name.
    pub configs: BTreeMap<(i8, Str), Overrides>,
    /// Registered brokers.
    pub brokers: BTreeSet<i32>,
    /// First producer id that no block holds.
    pub next_producer_id: i64,
    /// Level of `metadata.version`; 0 if the log doesn't say.
    pub version: i16,
    /// What is left behind.
    pub untaken: Untaken,
    /// Records of a transaction that hasn't ended (KIP-868): they count once it does.
    open: Option<Vec<Bytes>>,
}

/// Types of records that end and begin transactions, and of those that say nothing of what is taken over: controllers, the
/// way from ZooKeeper, eligible leaders, tokens that go.
const BEGIN_TRANSACTION: u32 = 23;
const END_TRANSACTION: u32 = 24;
const ABORT_TRANSACTION: u32 = 25;
const WITHOUT_MEANING: [u32; 5] = [21, 26, 27, 28, 29];
/// `leader` of a change that leaves the leader what it was.
const NO_LEADER_CHANGE: i32 = -2;

impl KafkaPartition {
    /// Whether that node's copy has all committed records.
    pub fn is_whole_at(&self, node_id: i32) -> bool {
        self.replicas == [node_id] || self.isr.contains(&node_id) || self.eligible.contains(&node_id)
    }
}

impl KafkaMetadata {
    /// Takes in the value of a data record.
    ///
    /// # Errors
    /// A record that can't be read, of a type that isn't known, or that doesn't fit those before it.
    pub fn apply(&mut self, record: &Bytes) -> Result<(), KafkaMetadataError> {
        let (key, _) = begin(record).map_err(KafkaMetadataError::NoRecord)?;
        match key {
            BEGIN_TRANSACTION => self.open = Some(Vec::new()),
            ABORT_TRANSACTION => self.open = None,
            END_TRANSACTION => {
                for record in self.open.take().unwrap_or_default() {
                    self.take(&record)?;
                }
            }
            _ => match &mut self.open {
                Some(open) => open.push(record.clone()),
                None => self.take(record)?,
            },
        }
        Ok(())
    }

    /// What is set on a topic.
    pub fn topic_configs(&self, name: &Str) -> Option<&Overrides> {
        self.configs.get(&(RESOURCE_TOPIC, name.clone()))
    }

    fn take(&mut self, bytes: &Bytes) -> Result<(), KafkaMetadataError> {
        let (key, mut rest) = begin(bytes).map_err(KafkaMetadataError::NoRecord)?;
        let failed = |source| KafkaMetadataError::Record { key, source };
        if self.untaken.apply(key, &mut rest).map_err(failed)? || WITHOUT_MEANING.contains(&key) {
            return Ok(());
        }
        let record = match MetadataRecord::decode(bytes) {
            Ok((record, _)) => record,
            Err(DecodeError::Unknown { what: "metadata record", .. }) => {
                return Err(KafkaMetadataError::Unknown(key));
            }
            Err(error) => return Err(failed(error)),
        };
        match record {
            MetadataRecord::Topic(made) => {
                let topic = KafkaTopic { name: made.name.detached(), partitions: BTreeMap::new() };
                self.topics.insert(made.topic_id, topic);
            }
            MetadataRecord::RemoveTopic(removed) => {
                let topic =
                    self.topics.remove(&removed.topic_id).ok_or_else(|| no_topic(removed.topic_id))?;
                self.configs.remove(&(RESOURCE_TOPIC, topic.name));
            }
            MetadataRecord::Partition(made) => self.set_partition(&made)?,
            MetadataRecord::PartitionChange(change) => self.change_partition(&change)?,
            MetadataRecord::Config(set) => {
                let configs =
                    self.configs.entry((set.resource_type, set.resource_name.detached())).or_default();
                match set.value {
                    Some(value) => configs.insert(set.name.detached(), value.detached()),
                    None => configs.remove(&set.name),
                };
            }
            MetadataRecord::ProducerIds(block) => {
                self.next_producer_id = self.next_producer_id.max(block.next_producer_id);
            }
            MetadataRecord::FeatureLevel(level) if level.name == METADATA_FEATURE => {
                self.version = level.feature_level;
            }
            MetadataRecord::FeatureLevel(level) if level.feature_level > 0 => {
                self.untaken.features.insert(level.name.detached());
            }
            MetadataRecord::FeatureLevel(level) => drop(self.untaken.features.remove(&level.name)),
            MetadataRecord::RegisterBroker(broker) => drop(self.brokers.insert(broker.broker_id)),
            MetadataRecord::UnregisterBroker(broker) => drop(self.brokers.remove(&broker.broker_id)),
            MetadataRecord::FenceBroker(_)
            | MetadataRecord::UnfenceBroker(_)
            | MetadataRecord::BrokerRegistrationChange(_)
            | MetadataRecord::NoOp(_) => {}
        }
        Ok(())
    }

    fn topic_mut(&mut self, id: Uuid) -> Result<&mut KafkaTopic, KafkaMetadataError> {
        self.topics.get_mut(&id).ok_or_else(|| no_topic(id))
    }

    fn set_partition(&mut self, record: &PartitionRecord) -> Result<(), KafkaMetadataError> {
        let partition = KafkaPartition {
            replicas: record.replicas.clone(),
            isr: record.isr.clone(),
            eligible: record.eligible_leader_replicas.clone().unwrap_or_default(),
            leader_epoch: record.leader_epoch,
            partition_epoch: record.partition_epoch,
        };
        self.topic_mut(record.topic_id)?.partitions.insert(record.partition_id, partition);
        Ok(())
    }

    /// A named leader raises the leader epoch, whoever it is.
    fn change_partition(&mut self, record: &PartitionChangeRecord) -> Result<(), KafkaMetadataError> {
        let topic = self.topic_mut(record.topic_id)?;
        let Some(partition) = topic.partitions.get_mut(&record.partition_id) else {
            return Err(KafkaMetadataError::NoTopic(format!("{}-{}", topic.name, record.partition_id)));
        };
        if let Some(isr) = &record.isr {
            partition.isr.clone_from(isr);
        }
        if let Some(eligible) = &record.eligible_leader_replicas {
            partition.eligible.clone_from(eligible);
        }
        if let Some(replicas) = &record.replicas {
            partition.replicas.clone_from(replicas);
        }
        if record.leader != NO_LEADER_CHANGE {
            partition.leader_epoch += 1;
        }
        partition.partition_epoch += 1;
        Ok(())
    }
}

fn no_topic(id: Uuid) -> KafkaMetadataError {
    KafkaMetadataError::NoTopic(id.to_string())
}

/// A record's type, and what stands behind its version.
fn begin(record: &Bytes) -> Result<(u32, Reader), DecodeError> {
    let mut r = Reader::new(record.clone());
    let frame = r.uvarint()?;
    if frame != METADATA_FRAME_VERSION {
        return Err(DecodeError::Unknown { what: "metadata frame version", value: frame });
    }
    let key = r.uvarint()?;
    r.uvarint()?;
    Ok((key, r))
}
