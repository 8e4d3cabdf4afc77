//! Produce, Fetch, ListOffsets, InitProducerId.

use bytes::Bytes;
use protocol::messages::fetch_request::{FetchPartition, FetchTopic, ForgottenTopic};
use protocol::messages::list_offsets_request::{ListOffsetsPartition, ListOffsetsTopic};
use protocol::messages::produce_request::{PartitionProduceData, TopicProduceData};
use protocol::messages::{FetchRequest, InitProducerIdRequest, ListOffsetsRequest, ProduceRequest};
use protocol::records::BatchBuilder;

use super::{Target, nowhere};

/// A partition that no topic has.
const NO_PARTITION: i32 = 77;
/// A leader epoch that no partition has reached.
const FUTURE_EPOCH: i32 = 99;

fn batch(timestamp_ms: i64) -> Bytes {
    let mut batch = BatchBuilder::new();
    batch.push(timestamp_ms, Some(b"key"), Some(b"value"), &[]);
    batch.build().expect("a small batch can be written")
}

/// With the last byte, which the CRC covers, changed.
fn damaged(batch: &Bytes) -> Bytes {
    let mut bytes = batch.to_vec();
    if let Some(last) = bytes.last_mut() {
        *last ^= 1;
    }
    Bytes::from(bytes)
}

/// All that gets an answer: acks=0 gets none.
pub(crate) fn produce(target: &Target) -> Vec<ProduceRequest> {
    let now_ms = rt::unix_ms();
    let good = batch(now_ms);
    let to = |topic: &Target, partitions: &[(i32, Option<&Bytes>)]| TopicProduceData {
        name: topic.name.clone(),
        topic_id: topic.id,
        partition_data: partitions
            .iter()
            .map(|(index, bytes)| PartitionProduceData {
                index: *index,
                records: bytes.cloned(),
                ..Default::default()
            })
            .collect(),
        ..Default::default()
    };
    let request = |acks: i16, topic_data: Vec<TopicProduceData>| ProduceRequest {
        acks,
        timeout_ms: 1_000,
        topic_data,
        ..Default::default()
    };
    // Two days ahead of the broker's clock: refused with an error of its own for the record.
    let future = batch(now_ms + 2 * 86_400_000);
    let transactional = ProduceRequest {
        transactional_id: Some("transactional".into()),
        ..request(-1, vec![to(target, &[(0, Some(&good))])])
    };
    vec![
        request(-1, vec![to(target, &[(0, Some(&good)), (1, Some(&good))])]),
        request(1, vec![to(target, &[(0, Some(&good)), (NO_PARTITION, Some(&good)), (-1, Some(&good))])]),
        request(-1, vec![to(target, &[(0, Some(&damaged(&good))), (1, Some(&future))])]),
        request(-1, vec![to(target, &[(0, Some(&Bytes::from_static(b"no batch"))), (1, None)])]),
        request(-1, vec![to(&nowhere(), &[(0, Some(&good))]), to(target, &[(1, Some(&good))])]),
        request(5, vec![to(target, &[(0, Some(&good))])]),
        request(-1, vec![]),
        transactional,
    ]
}

/// Sessionless, in a session, in one that isn't there.
pub(crate) fn fetch(version: i16, target: &Target) -> Vec<FetchRequest> {
    let at = |partition: i32, fetch_offset: i64| FetchPartition {
        partition,
        fetch_offset,
        partition_max_bytes: 1 << 20,
        ..Default::default()
    };
    let of = |topic: &Target, partitions: Vec<FetchPartition>| FetchTopic {
        topic: topic.name.clone(),
        topic_id: topic.id,
        partitions,
        ..Default::default()
    };
    let request = |topics: Vec<FetchTopic>| FetchRequest {
        max_wait_ms: 10,
        min_bytes: 1,
        topics,
        ..Default::default()
    };
    let mut requests = vec![
        request(vec![of(target, vec![at(0, 0), at(1, 0)])]),
        FetchRequest { isolation_level: 1, ..request(vec![of(target, vec![at(0, 0)])]) },
        request(vec![of(target, vec![at(0, 1 << 40), at(NO_PARTITION, 0)]), of(&nowhere(), vec![at(0, 0)])]),
        request(vec![of(target, vec![at(0, 1 << 40)])]),
        request(vec![of(target, vec![FetchPartition { current_leader_epoch: FUTURE_EPOCH, ..at(0, 0) }])]),
        request(vec![]),
    ];
    if version >= 7 {
        let forgotten = |topic: &Target| ForgottenTopic {
            topic: topic.name.clone(),
            topic_id: topic.id,
            partitions: vec![0],
            ..Default::default()
        };
        requests
            .push(FetchRequest { session_epoch: 0, ..request(vec![of(target, vec![at(0, 0), at(1, 0)])]) });
        requests.push(FetchRequest {
            session_id: 4_711,
            session_epoch: 3,
            forgotten_topics_data: vec![forgotten(target)],
            ..request(vec![])
        });
    }
    if version >= 12 {
        // The reader's log has records of an epoch that this log never had.
        let diverged = FetchPartition { last_fetched_epoch: FUTURE_EPOCH, ..at(0, 1) };
        requests.push(request(vec![of(target, vec![diverged])]));
    }
    requests
}

/// All special times, the known and the unknown, and some that are none.
pub(crate) fn list_offsets(target: &Target) -> Vec<ListOffsetsRequest> {
    let at = |partition_index: i32, timestamp: i64| ListOffsetsPartition {
        partition_index,
        timestamp,
        ..Default::default()
    };
    let of = |topic: &Target, partitions: Vec<ListOffsetsPartition>| ListOffsetsTopic {
        name: topic.name.clone(),
        partitions,
        ..Default::default()
    };
    let request =
        |topics: Vec<ListOffsetsTopic>| ListOffsetsRequest { replica_id: -1, topics, ..Default::default() };
    let times = [0, 1 << 50, -1, -2, -3, -4, -5, -6, -7];
    let mut requests: Vec<_> =
        times.map(|time| request(vec![of(target, vec![at(0, time), at(1, time)])])).to_vec();
    let fenced = ListOffsetsPartition { current_leader_epoch: FUTURE_EPOCH, ..at(0, -1) };
    requests.push(request(vec![
        of(target, vec![fenced, at(1, -1), at(NO_PARTITION, -1)]),
        of(&nowhere(), vec![at(0, -1)]),
    ]));
    requests.push(request(vec![]));
    requests
}

/// Idempotent; transactional, which isn't served yet; with half of an old id.
pub(crate) fn init_producer_id(version: i16) -> Vec<InitProducerIdRequest> {
    let idempotent = InitProducerIdRequest {
        transactional_id: None,
        transaction_timeout_ms: 60_000,
        ..Default::default()
    };
    let transactional =
        InitProducerIdRequest { transactional_id: Some("transactional".into()), ..idempotent.clone() };
    let mut requests = vec![idempotent.clone(), transactional];
    if version >= 3 {
        requests.push(InitProducerIdRequest { producer_id: 7, producer_epoch: 1, ..idempotent.clone() });
        requests.push(InitProducerIdRequest { producer_id: 7, ..idempotent });
    }
    requests
}
