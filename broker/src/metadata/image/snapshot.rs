//! The image as records, for snapshots.

use protocol::internal::register_broker_record::BrokerEndpoint;
use protocol::internal::{
    ConfigRecord, FeatureLevelRecord, MetadataRecord, PartitionRecord, ProducerIdsRecord,
    RegisterBrokerRecord, RemoveTopicRecord, TopicRecord,
};
use protocol::types::{Str, Uuid};

use super::image_state::RESOURCE_TOPIC;
use super::{Broker, Image, Partition, Topic};
use crate::config::topic::Overrides;

impl Image {
    /// Records that make this image from an empty one of the same cluster; offset and epoch aside.
    pub fn to_records(&self) -> impl Iterator<Item = MetadataRecord> {
        let features = self.features.iter().map(|(name, level)| {
            let (name, feature_level) = (name.clone(), *level);
            FeatureLevelRecord { name, feature_level, ..Default::default() }.into()
        });
        let brokers = self.brokers.values().map(broker_record);
        let configs = self.configs.iter().flat_map(|((kind, name), set)| config_records(*kind, name, set));
        // The last block's owner doesn't matter any more, only where the next one starts.
        let next = self.next_producer_id;
        let ids = (next > 0).then(|| ProducerIdsRecord {
            broker_id: -1,
            next_producer_id: next,
            ..Default::default()
        });
        // Before those there are: names come again.
        let removed = self.removed.iter().flat_map(removed_records);
        let topics = self.topics().flat_map(topic_records);
        let ids = ids.map(MetadataRecord::from);
        features.chain(brokers).chain(configs).chain(ids).chain(removed).chain(topics)
    }
}

/// A topic that comes and goes.
fn removed_records((topic_id, name): &(Uuid, Str)) -> [MetadataRecord; 2] {
    let (topic_id, name) = (*topic_id, name.clone());
    let made = TopicRecord { name, topic_id, ..Default::default() };
    [made.into(), RemoveTopicRecord { topic_id, ..Default::default() }.into()]
}

fn broker_record(broker: &Broker) -> MetadataRecord {
    let end_points = broker.endpoints.iter().map(|endpoint| BrokerEndpoint {
        name: endpoint.name.clone(),
        host: endpoint.host.clone(),
        port: endpoint.port,
        security_protocol: endpoint.security_protocol,
        ..Default::default()
    });
    let record = RegisterBrokerRecord {
        broker_id: broker.id,
        incarnation_id: broker.incarnation_id,
        broker_epoch: broker.epoch,
        end_points: end_points.collect(),
        rack: broker.rack.clone(),
        fenced: broker.fenced,
        in_controlled_shutdown: broker.in_controlled_shutdown,
        log_dirs: broker.log_dirs.clone(),
        ..Default::default()
    };
    record.into()
}

fn topic_records(topic: &Topic) -> impl Iterator<Item = MetadataRecord> {
    let record = TopicRecord { name: topic.name.clone(), topic_id: topic.id, ..Default::default() };
    let partitions = topic
        .partitions
        .iter()
        .enumerate()
        .map(|(index, partition)| partition_record(topic, index, partition));
    let configs = config_records(RESOURCE_TOPIC, &topic.name, &topic.configs);
    std::iter::once(record.into()).chain(configs).chain(partitions)
}

fn partition_record(topic: &Topic, index: usize, partition: &Partition) -> MetadataRecord {
    let record = PartitionRecord {
        partition_id: i32::try_from(index).unwrap_or(i32::MAX),
        topic_id: topic.id,
        replicas: partition.replicas.clone(),
        isr: partition.isr.clone(),
        leader: partition.leader,
        leader_epoch: partition.leader_epoch,
        partition_epoch: partition.partition_epoch,
        directories: partition.directories.clone(),
        ..Default::default()
    };
    record.into()
}

fn config_records(kind: i8, resource: &Str, set: &Overrides) -> impl Iterator<Item = MetadataRecord> {
    set.iter().map(move |(name, value)| {
        let (resource_type, resource_name) = (kind, resource.clone());
        let (name, value) = (name.clone(), Some(value.clone()));
        ConfigRecord { resource_type, resource_name, name, value, ..Default::default() }.into()
    })
}
