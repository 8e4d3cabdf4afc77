//! What Metadata says of topics.

use std::collections::{BTreeMap, BTreeSet};

use protocol::error::ErrorCode;
use protocol::internal::{PartitionRecord, TopicRecord};
use protocol::messages::MetadataRequest;
use protocol::messages::metadata_request::MetadataRequestTopic;
use protocol::messages::metadata_response::MetadataResponseTopic;
use protocol::types::{Str, Uuid};

use crate::api::metadata::{Wanted, describe, wanted};
use crate::metadata::{Delta, Image};

const ORDERS: Uuid = Uuid([1; 16]);
const OFFSETS: Uuid = Uuid([2; 16]);

fn image() -> Image {
    let mut image = Image::empty(Str::from_static("abc"));
    let topic = |name, topic_id| TopicRecord { name: Str::from_static(name), topic_id, ..Default::default() };
    let partition = |topic_id, leader| PartitionRecord {
        topic_id,
        partition_id: 0,
        replicas: vec![1, 2],
        isr: vec![leader],
        leader,
        leader_epoch: 4,
        directories: vec![Uuid::ZERO, Uuid::ZERO],
        ..PartitionRecord::default()
    };
    let records = vec![
        topic("orders", ORDERS).into(),
        partition(ORDERS, 1).into(),
        topic("__consumer_offsets", OFFSETS).into(),
        partition(OFFSETS, 2).into(),
    ];
    image.apply_delta(&Delta { base_offset: 0, epoch: 1, records: records.into() }).unwrap();
    image
}

fn named(name: &str) -> MetadataRequestTopic {
    MetadataRequestTopic { name: Some(Str::from(name)), ..MetadataRequestTopic::default() }
}

fn by_id(topic_id: Uuid) -> MetadataRequestTopic {
    MetadataRequestTopic { topic_id, name: None, ..MetadataRequestTopic::default() }
}

fn ask(version: i16, topics: Option<Vec<MetadataRequestTopic>>) -> Vec<MetadataResponseTopic> {
    let request = MetadataRequest { topics, ..MetadataRequest::default() };
    let wanted = wanted(version, request);
    describe(&image(), version, wanted, &BTreeMap::new(), &BTreeSet::from([1]))
}

fn codes(version: i16, topics: Vec<MetadataRequestTopic>) -> Vec<ErrorCode> {
    ask(version, Some(topics)).iter().map(|topic| ErrorCode::from_code(topic.error_code)).collect()
}

#[test]
fn an_empty_list_means_all_in_version_0_and_none_later() {
    assert_eq!((ask(0, Some(vec![])).len(), ask(1, Some(vec![])).len(), ask(1, None).len()), (2, 0, 2));
}

#[test]
fn a_topic_comes_with_its_leaders() {
    let topics = ask(12, Some(vec![named("orders"), named("__consumer_offsets"), named("orders")]));
    assert_eq!(topics.len(), 2);
    let orders = &topics[0].partitions[0];
    assert_eq!((orders.error_code, orders.leader_id, orders.leader_epoch), (0, 1, 4));
    assert_eq!((topics[0].topic_id, topics[0].is_internal), (ORDERS, false));
    assert_eq!(orders.offline_replicas, [2]);
    let offsets = &topics[1].partitions[0];
    assert_eq!(offsets.error_code, ErrorCode::LEADER_NOT_AVAILABLE.code());
    assert_eq!((offsets.leader_id, topics[1].is_internal), (-1, true));
}

#[test]
fn what_is_missing_has_a_code_of_its_own() {
    assert_eq!(codes(9, vec![named("gone")]), [ErrorCode::UNKNOWN_TOPIC_OR_PARTITION]);
    assert_eq!(codes(9, vec![named("a b")]), [ErrorCode::INVALID_TOPIC_EXCEPTION]);
    assert_eq!(codes(12, vec![by_id(Uuid([9; 16]))]), [ErrorCode::UNKNOWN_TOPIC_ID]);
}

#[test]
fn ids_are_for_version_12_and_later() {
    assert_eq!(codes(11, vec![by_id(ORDERS)]), [ErrorCode::INVALID_REQUEST]);
    assert_eq!(ask(12, Some(vec![by_id(ORDERS), named("x")]))[0].name, Some(Str::from_static("orders")));
    assert_eq!(ask(12, Some(vec![by_id(ORDERS), named("x")])).len(), 1);
}

#[test]
fn a_creation_that_failed_says_why() {
    let created = BTreeMap::from([
        (Str::from_static("few"), ErrorCode::INVALID_REPLICATION_FACTOR),
        (Str::from_static("late"), ErrorCode::NONE),
    ]);
    let wanted = Wanted::Named(vec![named("few"), named("late")]);
    let topics = describe(&image(), 9, wanted, &created, &BTreeSet::new());
    let codes: Vec<_> = topics.iter().map(|topic| ErrorCode::from_code(topic.error_code)).collect();
    assert_eq!(codes, [ErrorCode::INVALID_REPLICATION_FACTOR, ErrorCode::LEADER_NOT_AVAILABLE]);
}

/// Each used to be told with all its partitions: a small request could make an answer of any size.
#[test]
fn a_topic_asked_for_by_id_is_told_once_whatever_names_stand_beside() {
    let invented = (0..1_000).map(|at| MetadataRequestTopic {
        topic_id: ORDERS,
        name: Some(Str::from(format!("name-{at}"))),
        ..MetadataRequestTopic::default()
    });
    let told = ask(12, Some(invented.collect()));
    assert_eq!(told.len(), 1);
    assert_eq!((told[0].topic_id, told[0].name.as_deref()), (ORDERS, Some("orders")));
}
