//! The metadata as records of a cluster of one node.

use protocol::internal::{
    ConfigRecord, FeatureLevelRecord, MetadataRecord, PartitionRecord, ProducerIdsRecord, TopicRecord,
};
use protocol::types::{Str, Uuid};

use super::error::KafkaMetadataError;
use super::state::{KafkaMetadata, KafkaPartition, KafkaTopic};
use crate::config::topic::Overrides;
use crate::metadata::features::METADATA_FEATURE;
use crate::metadata::image::{RESOURCE_BROKER, RESOURCE_CLIENT_METRICS, RESOURCE_GROUP, RESOURCE_TOPIC};
use crate::metadata::limits::METADATA_VERSION;

impl KafkaMetadata {
    /// Records that make an image in which `node_id` alone holds and leads all partitions, in the log directory
    /// `directory`. Leader epochs go on from where Kafka's were, as no batch's may fall.
    ///
    /// # Errors
    /// `TooNew`, `Gap`.
    pub fn to_records(
        &self,
        node_id: i32,
        directory: Uuid,
    ) -> Result<Vec<MetadataRecord>, KafkaMetadataError> {
        if self.version > METADATA_VERSION {
            return Err(KafkaMetadataError::TooNew { found: self.version, max: METADATA_VERSION });
        }
        let (name, feature_level) = (Str::from_static(METADATA_FEATURE), METADATA_VERSION);
        let mut records = vec![FeatureLevelRecord { name, feature_level, ..Default::default() }.into()];
        for ((kind, resource), set) in &self.configs {
            if is_taken(*kind, resource, node_id) {
                records.extend(configs(*kind, resource, set));
            }
        }
        if self.next_producer_id > 0 {
            let next_producer_id = self.next_producer_id;
            records.push(ProducerIdsRecord { broker_id: -1, next_producer_id, ..Default::default() }.into());
        }
        for (id, topic) in &self.topics {
            records.extend(self.topic(*id, topic, node_id, directory)?);
        }
        Ok(records)
    }

    fn topic(
        &self,
        topic_id: Uuid,
        topic: &KafkaTopic,
        node_id: i32,
        directory: Uuid,
    ) -> Result<Vec<MetadataRecord>, KafkaMetadataError> {
        let made = TopicRecord { name: topic.name.clone(), topic_id, ..Default::default() };
        let mut records: Vec<MetadataRecord> = vec![made.into()];
        if let Some(set) = self.topic_configs(&topic.name) {
            records.extend(configs(RESOURCE_TOPIC, &topic.name, set));
        }
        for (expected, (number, partition)) in (0..).zip(&topic.partitions) {
            if expected != *number {
                return Err(KafkaMetadataError::Gap(topic.name.clone(), expected));
            }
            let KafkaPartition { leader_epoch, partition_epoch, .. } = *partition;
            let record = PartitionRecord {
                partition_id: *number,
                topic_id,
                replicas: vec![node_id],
                isr: vec![node_id],
                leader: node_id,
                leader_epoch,
                partition_epoch,
                directories: vec![directory],
                ..Default::default()
            };
            records.push(record.into());
        }
        Ok(records)
    }
}

/// Topics' configs go with their topics. Other nodes' are theirs, and loggers are another program's.
fn is_taken(kind: i8, resource: &str, node_id: i32) -> bool {
    match kind {
        RESOURCE_BROKER => resource.is_empty() || resource.parse() == Ok(node_id),
        RESOURCE_GROUP | RESOURCE_CLIENT_METRICS => true,
        _ => false,
    }
}

fn configs(kind: i8, resource: &Str, set: &Overrides) -> impl Iterator<Item = MetadataRecord> {
    set.iter().map(move |(name, value)| {
        let (resource_type, resource_name) = (kind, resource.clone());
        let (name, value) = (name.clone(), Some(value.clone()));
        ConfigRecord { resource_type, resource_name, name, value, ..Default::default() }.into()
    })
}
