//! Produce and Fetch, bytes to messages and back: what a broker does for every request, whatever is in it.
//!
//! Record bytes aren't touched by it, so that times don't grow with the batch.

mod support;

use criterion::{Criterion, criterion_group, criterion_main};
use protocol::header::{request_frame, response_frame};
use protocol::messages::fetch_response::{FetchableTopicResponse, PartitionData};
use protocol::messages::produce_request::{PartitionProduceData, TopicProduceData};
use protocol::messages::{FetchResponse, Message, ProduceRequest};
use protocol::records::Compression;
use protocol::types::Uuid;
use protocol::wire::{Reader, Writer};

/// Versions that today's clients speak.
const PRODUCE: i16 = 12;
const FETCH: i16 = 17;

fn produce(partitions: i32) -> ProduceRequest {
    let records = support::batch(100, 100, Compression::None);
    let data = (0..partitions).map(|index| PartitionProduceData {
        index,
        records: Some(records.clone()),
        ..Default::default()
    });
    let topic =
        TopicProduceData { name: "orders".into(), partition_data: data.collect(), ..Default::default() };
    ProduceRequest { acks: -1, timeout_ms: 30_000, topic_data: vec![topic], ..Default::default() }
}

fn fetched(partitions: i32) -> FetchResponse {
    let records = support::batch(100, 100, Compression::None);
    let data = (0..partitions).map(|partition_index| PartitionData {
        partition_index,
        high_watermark: 1_000_000,
        last_stable_offset: 1_000_000,
        records: Some(records.clone().into()),
        ..Default::default()
    });
    let topic =
        FetchableTopicResponse { topic_id: Uuid([7; 16]), partitions: data.collect(), ..Default::default() };
    FetchResponse { session_id: 1, responses: vec![topic], ..Default::default() }
}

fn encoded<M: Message>(message: &M, version: i16) -> bytes::Bytes {
    let mut writer = Writer::new();
    message.encode(&mut writer, version).expect("it has an encoding");
    writer.into_bytes()
}

fn codec(c: &mut Criterion) {
    let mut group = c.benchmark_group("codec");
    for partitions in [1, 50] {
        let (request, response) = (produce(partitions), fetched(partitions));
        let body = encoded(&request, PRODUCE);
        group.bench_function(format!("decode produce, {partitions} partitions"), |b| {
            b.iter(|| ProduceRequest::decode(&mut Reader::new(body.clone()), PRODUCE));
        });
        group.bench_function(format!("encode produce, {partitions} partitions"), |b| {
            b.iter(|| request_frame(1, Some("bench".into()), &request, PRODUCE).map(Writer::into_bufs));
        });
        group.bench_function(format!("encode fetch response, {partitions} partitions"), |b| {
            b.iter(|| response_frame(1, &response, FETCH).map(Writer::into_bufs));
        });
        let body = encoded(&response, FETCH);
        group.bench_function(format!("decode fetch response, {partitions} partitions"), |b| {
            b.iter(|| FetchResponse::decode(&mut Reader::new(body.clone()), FETCH));
        });
    }
    group.finish();
}

criterion_group!(benches, codec);
criterion_main!(benches);
