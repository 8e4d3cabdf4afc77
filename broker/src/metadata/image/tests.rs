//! Records to images and back.

use protocol::internal::{
    ConfigRecord, FeatureLevelRecord, MetadataRecord, PartitionChangeRecord, PartitionRecord,
    ProducerIdsRecord, RegisterBrokerRecord, RemoveTopicRecord, TopicRecord,
};
use protocol::types::{Str, Uuid};

use super::*;
use crate::metadata::limits::REMOVED_TOPICS_MAX;

const ID: Uuid = Uuid([7; 16]);

fn empty() -> Image {
    Image::empty(Str::from("cluster"))
}

fn partition(partition_id: i32) -> MetadataRecord {
    let (replicas, isr) = (vec![1], vec![1]);
    let epochs = (0, 0);
    PartitionRecord {
        partition_id,
        topic_id: ID,
        replicas,
        isr,
        leader: 1,
        leader_epoch: epochs.0,
        partition_epoch: epochs.1,
        directories: vec![Uuid::ZERO],
        ..Default::default()
    }
    .into()
}

fn topic(name: &str, topic_id: Uuid) -> MetadataRecord {
    TopicRecord { name: Str::from(name), topic_id, ..Default::default() }.into()
}

fn config(resource_type: i8, resource: &str, name: &str, value: Option<&str>) -> MetadataRecord {
    ConfigRecord {
        resource_type,
        resource_name: Str::from(resource),
        name: Str::from(name),
        value: value.map(Str::from),
        ..Default::default()
    }
    .into()
}

fn records() -> Vec<MetadataRecord> {
    let name = Str::from("metadata.version");
    vec![
        FeatureLevelRecord { name, feature_level: 33, ..Default::default() }.into(),
        RegisterBrokerRecord { broker_id: 1, broker_epoch: 1, rack: Some("r".into()), ..Default::default() }
            .into(),
        topic("orders", ID),
        config(RESOURCE_TOPIC, "orders", "retention.ms", Some("1")),
        partition(0),
        partition(1),
        config(RESOURCE_BROKER, "", "message.max.bytes", Some("2")),
        config(RESOURCE_BROKER, "1", "message.max.bytes", Some("3")),
        ProducerIdsRecord { broker_id: 1, next_producer_id: 1000, ..Default::default() }.into(),
    ]
}

fn image() -> Image {
    let mut image = empty();
    image.apply_delta(&Delta { base_offset: 0, epoch: 3, records: records().into() }).unwrap();
    image
}

#[test]
fn records_make_an_image() {
    let image = image();
    assert_eq!((image.offset, image.epoch, image.feature("metadata.version")), (8, 3, 33));
    assert_eq!((image.topic_count(), image.partition_count(), image.next_producer_id), (1, 2, 1000));
    let topic = image.topic("orders").unwrap();
    assert_eq!((topic.id, topic.partitions.len(), topic.configs["retention.ms"].as_str()), (ID, 2, "1"));
    assert_eq!(image.topic_by_id(ID), Some(topic));
    assert!(
        image.partition(ID, 1).is_some()
            && image.partition(ID, 2).is_none()
            && image.partition(ID, -1).is_none()
    );
    let (on_this, on_all) = image.dynamic_broker_configs(1);
    assert_eq!((on_this["message.max.bytes"].as_str(), on_all["message.max.bytes"].as_str()), ("3", "2"));
    assert!(image.brokers[&1].fenced);
}

#[test]
fn an_image_as_records_makes_itself() {
    let mut image = image();
    // Two of one name, and one of a name that there is.
    for (name, byte) in [("bills", 1), ("bills", 2), ("orders", 3)] {
        let id = Uuid([byte; 16]);
        if name == "orders" {
            image.apply(&RemoveTopicRecord { topic_id: ID, ..Default::default() }.into()).unwrap();
        }
        image.apply(&topic(name, id)).unwrap();
        if name == "bills" {
            image.apply(&RemoveTopicRecord { topic_id: id, ..Default::default() }.into()).unwrap();
        }
    }
    let removed = [1, 2, 7].map(|byte| Uuid([byte; 16]));
    assert_eq!(image.removed_topics(), removed.into());
    let mut copy = empty();
    for record in image.to_records() {
        // Through the bytes that a snapshot holds.
        let (record, _) = MetadataRecord::decode(&record.encode().unwrap()).unwrap();
        copy.apply(&record).unwrap();
    }
    (copy.offset, copy.epoch) = (image.offset, image.epoch);
    assert_eq!(copy, image);
}

#[test]
fn a_named_leader_raises_the_leader_epoch() {
    let mut image = image();
    let change =
        |leader| PartitionChangeRecord { partition_id: 1, topic_id: ID, leader, ..Default::default() };
    image.apply(&change(1).into()).unwrap();
    let partition = image.partition(ID, 1).unwrap();
    assert_eq!((partition.leader, partition.leader_epoch, partition.partition_epoch), (1, 1, 1));
    image.apply(&PartitionChangeRecord { isr: Some(vec![]), ..change(-2) }.into()).unwrap();
    let partition = image.partition(ID, 1).unwrap();
    assert_eq!((partition.leader_epoch, partition.partition_epoch, partition.isr.len()), (1, 2, 0));
}

#[test]
fn a_removed_topic_takes_everything_along() {
    let mut image = image();
    image.apply(&RemoveTopicRecord { topic_id: ID, ..Default::default() }.into()).unwrap();
    assert_eq!((image.topic_count(), image.partition_count()), (0, 0));
    assert!(image.topic("orders").is_none());
    // The name is free again, without the old configs.
    let other = Uuid([8; 16]);
    image.apply(&topic("orders", other)).unwrap();
    assert!(image.topic("orders").is_some_and(|topic| topic.configs.is_empty() && topic.id == other));
}

#[test]
fn removed_topics_are_remembered_up_to_a_bound() {
    let mut image = image();
    let id = |number: usize| Uuid((number as u128 + 1).to_be_bytes());
    for number in 0..=REMOVED_TOPICS_MAX {
        image.apply(&topic("bills", id(number))).unwrap();
        image.apply(&RemoveTopicRecord { topic_id: id(number), ..Default::default() }.into()).unwrap();
    }
    let removed = image.removed_topics();
    assert_eq!(removed.len(), REMOVED_TOPICS_MAX);
    assert!(!removed.contains(&id(0)) && removed.contains(&id(REMOVED_TOPICS_MAX)));
}

#[test]
fn a_null_value_removes_a_config() {
    let mut image = image();
    image.apply(&config(RESOURCE_BROKER, "", "message.max.bytes", None)).unwrap();
    image.apply(&config(RESOURCE_TOPIC, "orders", "retention.ms", None)).unwrap();
    assert_eq!(image.configs(RESOURCE_BROKER, ""), None);
    assert!(image.topic("orders").is_some_and(|topic| topic.configs.is_empty()));
}

#[test]
fn records_that_do_not_fit_are_refused() {
    let mut image = image();
    let change = PartitionChangeRecord { partition_id: 2, topic_id: ID, ..Default::default() };
    let unknown = RemoveTopicRecord { topic_id: Uuid([9; 16]), ..Default::default() };
    let back = ProducerIdsRecord { next_producer_id: 999, ..Default::default() };
    for (record, error) in [
        (topic("orders", Uuid([9; 16])), ApplyError::TopicExists("orders".into())),
        (topic("other", ID), ApplyError::TopicExists("other".into())),
        (partition(3), ApplyError::NoPartition("orders".into(), 3)),
        (partition(-1), ApplyError::NoPartition("orders".into(), -1)),
        (change.into(), ApplyError::NoPartition("orders".into(), 2)),
        (unknown.into(), ApplyError::NoTopic(Uuid([9; 16]).to_string())),
        (config(RESOURCE_TOPIC, "gone", "retention.ms", None), ApplyError::NoTopic("gone".into())),
        (back.into(), ApplyError::ProducerIds { at: 1000, next: 999 }),
    ] {
        assert_eq!(image.apply(&record), Err(error));
    }
    let gap = Delta { base_offset: 10, epoch: 3, records: records().into() };
    assert_eq!(image.apply_delta(&gap), Err(ApplyError::Gap { offset: 8, base_offset: 10 }));
}

#[test]
fn topics_are_told_by_name() {
    let mut image = empty();
    for (i, name) in ["b", "a.x", "a_y", "c"].into_iter().enumerate() {
        image.apply(&topic(name, Uuid([i as u8 + 1; 16]))).unwrap();
    }
    let names: Vec<_> = image.topics().map(|topic| topic.name.to_string()).collect();
    assert_eq!(names, ["a.x", "a_y", "b", "c"]);
}

/// Creating a topic looked at every topic with the same first word.
#[test]
fn a_topic_is_found_by_its_metrics_name() {
    let mut image = empty();
    for (i, name) in ["plain", "a.x", "b_y.z"].into_iter().enumerate() {
        image.apply(&topic(name, Uuid([i as u8 + 1; 16]))).unwrap();
    }
    let found = |image: &Image, name: &str| image.topic_of_metric(&metric_name(name)).map(Str::to_string);
    assert_eq!(found(&image, "a_x").as_deref(), Some("a.x"));
    assert_eq!(found(&image, "b.y.z").as_deref(), Some("b_y.z"));
    assert_eq!((found(&image, "plain"), found(&image, "a_y")), (None, None));
    let removed = RemoveTopicRecord { topic_id: Uuid([2; 16]), ..Default::default() };
    image.apply(&removed.into()).unwrap();
    assert_eq!(found(&image, "a_x"), None);
}
