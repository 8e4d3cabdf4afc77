//! What the sink says to a request.

use bytes::Bytes;
use protocol::api::ApiKey;
use protocol::error::ErrorCode;
use protocol::header::{RequestHeader, response_frame};
use protocol::messages::api_versions_response::ApiVersion;
use protocol::messages::create_topics_response::CreatableTopicResult;
use protocol::messages::delete_topics_response::DeletableTopicResult;
use protocol::messages::list_offsets_response::{ListOffsetsPartitionResponse, ListOffsetsTopicResponse};
use protocol::messages::metadata_response::{
    MetadataResponseBroker, MetadataResponsePartition, MetadataResponseTopic,
};
use protocol::messages::produce_response::{PartitionProduceResponse, TopicProduceResponse};
use protocol::messages::{
    ApiMessage, ApiVersionsRequest, ApiVersionsResponse, CreateTopicsRequest, CreateTopicsResponse,
    DeleteTopicsRequest, DeleteTopicsResponse, InitProducerIdRequest, InitProducerIdResponse,
    ListOffsetsRequest, ListOffsetsResponse, Message, MetadataRequest, MetadataResponse, ProduceRequest,
    ProduceResponse,
};
use protocol::wire::{DecodeError, EncodeError, Reader};

/// The APIs it has.
const SERVED: [ApiKey; 7] = [
    ApiKey::Produce,
    ApiKey::ListOffsets,
    ApiKey::Metadata,
    ApiKey::ApiVersions,
    ApiKey::CreateTopics,
    ApiKey::DeleteTopics,
    ApiKey::InitProducerId,
];
/// Last versions that name topics instead of their ids, which it doesn't give.
const PRODUCE_MAX: i16 = 12;

/// Who the sink says it is.
#[derive(Debug, Clone)]
pub(super) struct Sink {
    pub(super) host: String,
    pub(super) port: u16,
    /// Partitions of every topic.
    pub(super) partitions: i32,
}

/// Why a connection ends.
#[derive(Debug, thiserror::Error)]
pub(super) enum SinkError {
    #[error("the request can't be read: {0}")]
    Decode(#[from] DecodeError),
    #[error("the answer can't be written: {0}")]
    Encode(#[from] EncodeError),
    #[error("{0:?} isn't served")]
    Unserved(Option<ApiKey>),
}

impl Sink {
    /// The answer to a frame; none to a Produce with acks=0.
    pub(super) fn answer(&self, frame: Bytes) -> Result<Option<Vec<Bytes>>, SinkError> {
        let mut body = Reader::new(frame);
        let header = RequestHeader::decode(&mut body)?;
        let (id, version) = (header.correlation_id, header.api_version);
        let key = ApiKey::from_code(header.api_key);
        match key {
            Some(ApiKey::Produce) => {
                let request = ProduceRequest::decode(&mut body, version)?;
                if request.acks == 0 {
                    return Ok(None);
                }
                framed(id, &produced(request), version)
            }
            Some(ApiKey::ApiVersions) => {
                let is_known = ApiVersionsRequest::VERSIONS.contains(version);
                framed(id, &versions(is_known), if is_known { version } else { 0 })
            }
            Some(ApiKey::Metadata) => {
                framed(id, &self.metadata(MetadataRequest::decode(&mut body, version)?), version)
            }
            Some(ApiKey::CreateTopics) => {
                framed(id, &self.created(CreateTopicsRequest::decode(&mut body, version)?), version)
            }
            Some(ApiKey::DeleteTopics) => {
                framed(id, &deleted(DeleteTopicsRequest::decode(&mut body, version)?), version)
            }
            Some(ApiKey::ListOffsets) => {
                framed(id, &offsets(ListOffsetsRequest::decode(&mut body, version)?), version)
            }
            Some(ApiKey::InitProducerId) => {
                InitProducerIdRequest::decode(&mut body, version)?;
                let producer_id = (rt::random_u64() >> 2) as i64;
                framed(
                    id,
                    &InitProducerIdResponse { producer_id, producer_epoch: 0, ..Default::default() },
                    version,
                )
            }
            key => Err(SinkError::Unserved(key)),
        }
    }

    fn metadata(&self, request: MetadataRequest) -> MetadataResponse {
        let partition = |partition_index| MetadataResponsePartition {
            partition_index,
            leader_id: 1,
            leader_epoch: 0,
            replica_nodes: vec![1],
            isr_nodes: vec![1],
            ..Default::default()
        };
        let topics = request.topics.unwrap_or_default().into_iter().map(|topic| MetadataResponseTopic {
            name: topic.name,
            partitions: (0..self.partitions).map(partition).collect(),
            ..Default::default()
        });
        let broker = MetadataResponseBroker {
            node_id: 1,
            host: (&self.host).into(),
            port: i32::from(self.port),
            ..Default::default()
        };
        MetadataResponse {
            brokers: vec![broker],
            cluster_id: Some("sink".into()),
            controller_id: 1,
            topics: topics.collect(),
            ..Default::default()
        }
    }

    /// Every topic is there, with as many partitions as all others.
    fn created(&self, request: CreateTopicsRequest) -> CreateTopicsResponse {
        let topics = request.topics.into_iter().map(|topic| {
            let fits = topic.num_partitions < 0 || topic.num_partitions == self.partitions;
            let code = if fits { ErrorCode::NONE } else { ErrorCode::INVALID_PARTITIONS };
            let message = || {
                format!(
                    "every topic of this sink has {} partitions: start it with --partitions {}",
                    self.partitions, topic.num_partitions
                )
            };
            CreatableTopicResult {
                name: topic.name.clone(),
                error_code: code.code(),
                error_message: (!fits).then(|| message().into()),
                ..Default::default()
            }
        });
        CreateTopicsResponse { topics: topics.collect(), ..Default::default() }
    }
}

fn framed<M: ApiMessage>(id: i32, message: &M, version: i16) -> Result<Option<Vec<Bytes>>, SinkError> {
    Ok(Some(response_frame(id, message, version)?.into_bufs()))
}

fn versions(is_known: bool) -> ApiVersionsResponse {
    let api = |key: &ApiKey| {
        let range = key.info().advertised?;
        let max = if *key == ApiKey::Produce { PRODUCE_MAX } else { range.max };
        Some(ApiVersion {
            api_key: key.code(),
            min_version: range.min,
            max_version: max,
            ..Default::default()
        })
    };
    let code = if is_known { ErrorCode::NONE } else { ErrorCode::UNSUPPORTED_VERSION };
    ApiVersionsResponse {
        error_code: code.code(),
        api_keys: SERVED.iter().filter_map(api).collect(),
        ..Default::default()
    }
}

fn produced(request: ProduceRequest) -> ProduceResponse {
    let responses = request.topic_data.into_iter().map(|topic| TopicProduceResponse {
        name: topic.name,
        partition_responses: topic
            .partition_data
            .iter()
            .map(|partition| PartitionProduceResponse { index: partition.index, ..Default::default() })
            .collect(),
        ..Default::default()
    });
    ProduceResponse { responses: responses.collect(), ..Default::default() }
}

fn deleted(request: DeleteTopicsRequest) -> DeleteTopicsResponse {
    let by_state = request.topics.into_iter().map(|topic| topic.name);
    let names = by_state.chain(request.topic_names.into_iter().map(Some));
    let responses = names.map(|name| DeletableTopicResult { name, ..Default::default() });
    DeleteTopicsResponse { responses: responses.collect(), ..Default::default() }
}

fn offsets(request: ListOffsetsRequest) -> ListOffsetsResponse {
    let topics = request.topics.into_iter().map(|topic| ListOffsetsTopicResponse {
        name: topic.name,
        partitions: topic
            .partitions
            .iter()
            .map(|partition| ListOffsetsPartitionResponse {
                partition_index: partition.partition_index,
                offset: 0,
                ..Default::default()
            })
            .collect(),
        ..Default::default()
    });
    ListOffsetsResponse { topics: topics.collect(), ..Default::default() }
}
