//! What it answers.

use bytes::Bytes;
use protocol::api::ApiKey;
use protocol::error::ErrorCode;
use protocol::header::{RequestHeader, response_frame};
use protocol::messages::api_versions_response::ApiVersion;
use protocol::messages::create_topics_response::CreatableTopicResult;
use protocol::messages::fetch_response::{FetchableTopicResponse, PartitionData};
use protocol::messages::list_offsets_response::{ListOffsetsPartitionResponse, ListOffsetsTopicResponse};
use protocol::messages::metadata_response::{
    MetadataResponseBroker, MetadataResponsePartition, MetadataResponseTopic,
};
use protocol::messages::produce_response::{PartitionProduceResponse, TopicProduceResponse};
use protocol::messages::*;
use protocol::wire::Reader;

use super::store::{Outcome, Store};

/// The APIs it has, and their highest versions: all name topics.
const SERVED: [(ApiKey, i16); 8] = [
    (ApiKey::Produce, 9),
    (ApiKey::Fetch, 12),
    (ApiKey::ListOffsets, 7),
    (ApiKey::Metadata, 9),
    (ApiKey::ApiVersions, 3),
    (ApiKey::CreateTopics, 6),
    (ApiKey::DeleteTopics, 5),
    (ApiKey::InitProducerId, 4),
];

/// The answer to a frame; none closes the connection.
pub(crate) fn answer(store: &mut Store, port: u16, frame: Bytes) -> Option<Bytes> {
    let mut body = Reader::new(frame);
    let header = RequestHeader::decode(&mut body).unwrap();
    let (id, version) = (header.correlation_id, header.api_version);
    let key = ApiKey::from_code(header.api_key).unwrap();
    fn framed<M: ApiMessage>(id: i32, message: &M, version: i16) -> Option<Bytes> {
        Some(response_frame(id, message, version).unwrap().into_bytes())
    }
    match key {
        ApiKey::ApiVersions => framed(id, &versions(), version),
        ApiKey::Metadata => {
            let request = MetadataRequest::decode(&mut body, version).unwrap();
            framed(id, &metadata(store, port, request), version)
        }
        ApiKey::CreateTopics => {
            let request = CreateTopicsRequest::decode(&mut body, version).unwrap();
            framed(id, &create(store, request), version)
        }
        ApiKey::DeleteTopics => framed(id, &DeleteTopicsResponse::default(), version),
        ApiKey::InitProducerId => {
            store.next_producer_id += 1;
            let producer_id = store.next_producer_id;
            framed(id, &InitProducerIdResponse { producer_id, ..Default::default() }, version)
        }
        ApiKey::ListOffsets => {
            let request = ListOffsetsRequest::decode(&mut body, version).unwrap();
            framed(id, &offsets(store, request), version)
        }
        ApiKey::Produce => {
            let request = ProduceRequest::decode(&mut body, version).unwrap();
            framed(id, &produce(store, request)?, version)
        }
        ApiKey::Fetch => {
            let request = FetchRequest::decode(&mut body, version).unwrap();
            framed(id, &fetch(store, request), version)
        }
        key => panic!("{key:?} isn't served"),
    }
}

fn versions() -> ApiVersionsResponse {
    let api = |(key, max): &(ApiKey, i16)| {
        let min_version = key.info().valid.unwrap().min;
        ApiVersion { api_key: key.code(), min_version, max_version: *max, ..Default::default() }
    };
    ApiVersionsResponse { api_keys: SERVED.iter().map(api).collect(), ..Default::default() }
}

fn metadata(store: &Store, port: u16, request: MetadataRequest) -> MetadataResponse {
    let partition = |partition_index| MetadataResponsePartition {
        partition_index,
        leader_id: 1,
        replica_nodes: vec![1],
        isr_nodes: vec![1],
        ..Default::default()
    };
    let topics = request.topics.unwrap_or_default().into_iter().map(|topic| {
        let is_there = store.topics.iter().any(|name| topic.name.as_ref().is_some_and(|asked| asked == name));
        let code = if is_there { ErrorCode::NONE } else { ErrorCode::UNKNOWN_TOPIC_OR_PARTITION };
        let partitions = if is_there { (0..store.partitions).map(partition).collect() } else { Vec::new() };
        MetadataResponseTopic { name: topic.name, error_code: code.code(), partitions, ..Default::default() }
    });
    let broker = MetadataResponseBroker {
        node_id: 1,
        host: "127.0.0.1".into(),
        port: i32::from(port),
        ..Default::default()
    };
    MetadataResponse {
        brokers: vec![broker],
        controller_id: 1,
        topics: topics.collect(),
        ..Default::default()
    }
}

fn create(store: &mut Store, request: CreateTopicsRequest) -> CreateTopicsResponse {
    let topics = request.topics.into_iter().map(|topic| {
        assert_eq!(topic.num_partitions, store.partitions, "the fake broker has one number of partitions");
        store.topics.push(topic.name.to_string());
        CreatableTopicResult { name: topic.name, ..Default::default() }
    });
    CreateTopicsResponse { topics: topics.collect(), ..Default::default() }
}

fn offsets(store: &Store, request: ListOffsetsRequest) -> ListOffsetsResponse {
    let topics = request.topics.iter().map(|topic| {
        let partitions = topic.partitions.iter().map(|asked| {
            let end = store.end(&topic.name, asked.partition_index);
            ListOffsetsPartitionResponse {
                partition_index: asked.partition_index,
                offset: if asked.timestamp == -1 { end } else { 0 },
                ..Default::default()
            }
        });
        ListOffsetsTopicResponse {
            name: topic.name.clone(),
            partitions: partitions.collect(),
            ..Default::default()
        }
    });
    ListOffsetsResponse { topics: topics.collect(), ..Default::default() }
}

fn produce(store: &mut Store, request: ProduceRequest) -> Option<ProduceResponse> {
    let mut response = ProduceResponse::default();
    let mut closes = false;
    for topic in request.topic_data {
        let mut partition_responses = Vec::new();
        for data in topic.partition_data {
            let outcome = store.append(&topic.name, data.index, data.records.unwrap());
            let code = match outcome {
                Outcome::Answer(code) => code,
                Outcome::Close => {
                    closes = true;
                    ErrorCode::NONE
                }
            };
            partition_responses.push(PartitionProduceResponse {
                index: data.index,
                error_code: code.code(),
                ..Default::default()
            });
        }
        response.responses.push(TopicProduceResponse {
            name: topic.name,
            partition_responses,
            ..Default::default()
        });
    }
    (!closes).then_some(response)
}

/// Never waits, and keeps no session.
fn fetch(store: &Store, request: FetchRequest) -> FetchResponse {
    let responses = request.topics.iter().map(|topic| {
        let partitions = topic.partitions.iter().map(|asked| {
            let (name, index) = (&topic.topic, asked.partition);
            let records = store.read(name, index, asked.fetch_offset, asked.partition_max_bytes as usize);
            PartitionData {
                partition_index: index,
                high_watermark: store.end(name, index),
                records: Some(records.into()),
                ..Default::default()
            }
        });
        FetchableTopicResponse {
            topic: topic.topic.clone(),
            partitions: partitions.collect(),
            ..Default::default()
        }
    });
    FetchResponse { responses: responses.collect(), ..Default::default() }
}
