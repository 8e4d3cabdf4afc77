//! Tests of what a Kafka cluster's records say together.

use bytes::{BufMut, Bytes, BytesMut};
use protocol::internal::{
    ConfigRecord, FeatureLevelRecord, MetadataRecord, PartitionChangeRecord, PartitionRecord,
    ProducerIdsRecord, RemoveTopicRecord, TopicRecord,
};
use protocol::types::{Str, Uuid};

use super::{KafkaMetadata, KafkaMetadataError};
use crate::metadata::image::{Delta, Image, RESOURCE_BROKER, RESOURCE_TOPIC};
use crate::metadata::limits::METADATA_VERSION;

const TOPIC: Uuid = Uuid([7; 16]);
const HERE: Uuid = Uuid([9; 16]);

fn topic(name: &str, topic_id: Uuid) -> MetadataRecord {
    TopicRecord { name: name.into(), topic_id, ..Default::default() }.into()
}

fn partition(partition_id: i32, leader_epoch: i32) -> MetadataRecord {
    let (topic_id, replicas, isr) = (TOPIC, vec![3], vec![3]);
    PartitionRecord { partition_id, topic_id, replicas, isr, leader: 3, leader_epoch, ..Default::default() }
        .into()
}

fn config(resource_type: i8, resource: &str, name: &str, value: Option<&str>) -> MetadataRecord {
    let (resource_name, name, value) = (resource.into(), name.into(), value.map(Str::from));
    ConfigRecord { resource_type, resource_name, name, value, ..Default::default() }.into()
}

fn feature(name: &str, feature_level: i16) -> MetadataRecord {
    FeatureLevelRecord { name: name.into(), feature_level, ..Default::default() }.into()
}

/// A record of a type that isn't known here: type, version 0, and what follows.
fn other(key: u8, body: &[u8]) -> Bytes {
    let mut record = BytesMut::from(&[1, key, 0][..]);
    record.put_slice(body);
    record.freeze()
}

fn apply(metadata: &mut KafkaMetadata, records: &[MetadataRecord]) {
    for record in records {
        metadata.apply(&record.encode().unwrap()).unwrap();
    }
}

fn image(metadata: &KafkaMetadata) -> Image {
    let records = metadata.to_records(3, HERE).unwrap();
    let mut image = Image::empty("cluster".into());
    image.apply_delta(&Delta { base_offset: 0, epoch: 1, records: records.into() }).unwrap();
    image
}

#[test]
fn a_topic_with_all_that_is_known_of_it() {
    let mut metadata = KafkaMetadata::default();
    let next = ProducerIdsRecord { next_producer_id: 5_000, ..Default::default() };
    let change = PartitionChangeRecord { partition_id: 1, topic_id: TOPIC, leader: 3, ..Default::default() };
    // A snapshot's order is any.
    apply(
        &mut metadata,
        &[
            config(RESOURCE_TOPIC, "t", "retention.ms", Some("7")),
            config(RESOURCE_TOPIC, "t", "segment.ms", Some("9")),
            feature("metadata.version", METADATA_VERSION),
            feature("group.version", 1),
            topic("t", TOPIC),
            partition(1, 4),
            partition(0, 2),
            change.into(),
            config(RESOURCE_TOPIC, "t", "segment.ms", None),
            config(RESOURCE_BROKER, "", "log.retention.ms", Some("8")),
            config(RESOURCE_BROKER, "4", "log.retention.ms", Some("1")),
            next.into(),
        ],
    );
    let image = image(&metadata);
    let found = image.topic("t").unwrap();
    assert_eq!((found.id, found.partitions.len()), (TOPIC, 2));
    assert_eq!(found.configs.iter().map(|(k, v)| format!("{k}={v}")).collect::<Vec<_>>(), ["retention.ms=7"]);
    let second = &found.partitions[1];
    assert_eq!((second.leader_epoch, second.leader), (5, 3), "a named leader raised the epoch");
    assert_eq!((&second.replicas, &second.isr, &second.directories), (&vec![3], &vec![3], &vec![HERE]));
    assert_eq!(image.next_producer_id, 5_000);
    assert_eq!(image.configs(RESOURCE_BROKER, "").unwrap().len(), 1);
    assert_eq!(image.configs(RESOURCE_BROKER, "4"), None, "another node's");
    assert_eq!(image.feature("metadata.version"), METADATA_VERSION);
    assert_eq!(metadata.untaken.features.iter().collect::<Vec<_>>(), ["group.version"]);
}

/// A lone Kafka that is stopped leaves its own ISR.
#[test]
fn who_has_all_committed_records() {
    let mut metadata = KafkaMetadata::default();
    apply(&mut metadata, &[topic("t", TOPIC), partition(0, 0)]);
    let mut whole = |replicas: Option<Vec<i32>>, isr: Vec<i32>, eligible: Option<Vec<i32>>| {
        let (isr, eligible_leader_replicas) = (Some(isr), eligible);
        let change = PartitionChangeRecord {
            partition_id: 0,
            topic_id: TOPIC,
            replicas,
            isr,
            eligible_leader_replicas,
            ..Default::default()
        };
        apply(&mut metadata, &[change.into()]);
        metadata.topics[&TOPIC].partitions[&0].is_whole_at(3)
    };
    assert!(whole(None, vec![], None), "the only copy");
    assert!(!whole(Some(vec![3, 4]), vec![4], None));
    assert!(whole(None, vec![], Some(vec![3])));
    assert!(whole(None, vec![4], None), "unless told otherwise it stays");
    assert!(!whole(None, vec![4], Some(vec![])));
    assert!(whole(None, vec![4, 3], None));
}

#[test]
fn a_deleted_topic_leaves_nothing() {
    let mut metadata = KafkaMetadata::default();
    let gone = RemoveTopicRecord { topic_id: TOPIC, ..Default::default() };
    apply(
        &mut metadata,
        &[topic("t", TOPIC), partition(0, 0), config(RESOURCE_TOPIC, "t", "retention.ms", Some("7"))],
    );
    apply(&mut metadata, &[gone.into(), topic("t", Uuid([8; 16]))]);
    let image = image(&metadata);
    let found = image.topic("t").unwrap();
    assert_eq!((found.id, found.configs.len()), (Uuid([8; 16]), 0));
}

#[test]
fn a_transaction_counts_when_it_ends() {
    let mut metadata = KafkaMetadata::default();
    let (begin, end, abort) = (other(23, &[0]), other(24, &[0]), other(25, &[0]));
    metadata.apply(&begin).unwrap();
    apply(&mut metadata, &[topic("aborted", TOPIC)]);
    metadata.apply(&abort).unwrap();
    metadata.apply(&begin).unwrap();
    apply(&mut metadata, &[topic("t", TOPIC)]);
    assert_eq!(metadata.topics.len(), 0);
    metadata.apply(&end).unwrap();
    assert_eq!(metadata.topics[&TOPIC].name, "t");
    metadata.apply(&begin).unwrap();
    apply(&mut metadata, &[topic("open", Uuid([8; 16]))]);
    assert_eq!(metadata.topics.len(), 1, "one that never ended doesn't");
}

#[test]
fn what_is_left_behind_is_counted() {
    let mut metadata = KafkaMetadata::default();
    let acl = |id: u8| [&[id; 16][..], b"\x02\x02t\x03"].concat();
    for record in [other(18, &acl(1)), other(18, &acl(2)), other(19, &[1; 16])] {
        metadata.apply(&record).unwrap();
    }
    assert_eq!(metadata.untaken.acls.len(), 1);
    metadata.apply(&other(11, b"\x02u\x01\x01\x01\x01\0\0\x10\0\0")).unwrap();
    metadata.apply(&other(11, b"\x02u\x02\x01\x01\x01\0\0\x10\0\0")).unwrap();
    metadata.apply(&other(22, b"\x02u\x01\0")).unwrap();
    assert_eq!(metadata.untaken.users.iter().collect::<Vec<_>>(), [&(Str::from("u"), 2)]);
    let quota = |gone: u8, value: u8| [&b"\x02\x05user\x02u\0\x02k"[..], &[value; 8], &[gone, 0]].concat();
    metadata.apply(&other(14, &quota(0, 1))).unwrap();
    metadata.apply(&other(14, &quota(0, 2))).unwrap();
    assert_eq!(metadata.untaken.quotas.len(), 1, "changed");
    metadata.apply(&other(14, &quota(1, 0))).unwrap();
    assert_eq!(metadata.untaken.quotas.len(), 0);
    for without_meaning in [21, 26, 27, 28, 29] {
        metadata.apply(&other(without_meaning, b"whatever")).unwrap();
    }
}

#[test]
fn what_isnt_known_is_refused() {
    let mut metadata = KafkaMetadata::default();
    assert_eq!(metadata.apply(&other(99, b"")), Err(KafkaMetadataError::Unknown(99)));
    assert!(matches!(metadata.apply(&other(2, b"")), Err(KafkaMetadataError::Record { key: 2, .. })));
    assert!(matches!(metadata.apply(&Bytes::new()), Err(KafkaMetadataError::NoRecord(_))));
    let lost = partition(0, 0).encode().unwrap();
    assert!(
        matches!(metadata.apply(&lost), Err(KafkaMetadataError::NoTopic(_))),
        "the log's beginning is gone"
    );
    apply(&mut metadata, &[topic("t", TOPIC), partition(0, 0), partition(2, 0)]);
    assert_eq!(metadata.to_records(3, HERE), Err(KafkaMetadataError::Gap("t".into(), 1)));
    apply(&mut metadata, &[partition(1, 0), feature("metadata.version", METADATA_VERSION + 1)]);
    assert!(matches!(metadata.to_records(3, HERE), Err(KafkaMetadataError::TooNew { .. })));
}
