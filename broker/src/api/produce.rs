//! Produce (key 0): batches to partitions.
//!
//! Two stages: stage one checks every batch and queues it at its owner, stage two waits for the answers. Stage one of a connection's next
//! Produce may run while stage two of this one waits; batches of one partition are appended in the order of their requests.

use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::Poll;

use futures_util::future::{FutureExt, join_all};
use protocol::error::ErrorCode;
use protocol::messages::ProduceRequest;
use protocol::messages::ProduceResponse;
use protocol::messages::produce_request::PartitionProduceData;
use protocol::messages::produce_response::{
    BatchIndexAndErrorMessage, PartitionProduceResponse, TopicProduceResponse,
};
use protocol::records::{Compression, InvalidBatch, ProduceRules, TimestampType, ValidBatch, validate};
use protocol::types::{Str, Uuid};
use shards::PartitionKey;

use super::Close;
use crate::config::TopicConfig;
use crate::config::broker::ProduceValidation;
use crate::config::topic::CompressionType;
use crate::server::piece::{Answer, AppendPiece};
use crate::server::{Piece, RequestContext, ShardState};

type PartitionAnswer = Pin<Box<dyn Future<Output = PartitionProduceResponse>>>;

/// Stage one; its output is stage two, whose output is the answer: none for acks=0, where errors close the connection.
pub async fn start(
    shard: Rc<ShardState>,
    context: RequestContext,
    request: ProduceRequest,
) -> Pin<Box<dyn Future<Output = Result<Option<ProduceResponse>, Close>>>> {
    let acks = request.acks;
    let mut topics = Vec::with_capacity(request.topic_data.len());
    for topic in request.topic_data {
        let found = find_topic(&shard, context.api_version, &topic.name, topic.topic_id);
        let mut partitions: Vec<PartitionAnswer> = Vec::with_capacity(topic.partition_data.len());
        for data in topic.partition_data {
            let checked = check(&shard, &context, acks, request.transactional_id.is_some(), &found, &data);
            let index = data.index;
            let mut answer: PartitionAnswer = match checked {
                Ok((key, batch)) => append(Rc::clone(&shard), &context, key, batch, acks, request.timeout_ms),
                Err(refused) => Box::pin(std::future::ready(refusal(index, refused))),
            };
            // Queued at its owner, here or behind a lane, before the next request of this connection is looked at.
            begin(&mut answer).await;
            partitions.push(answer);
        }
        topics.push((topic.name, topic.topic_id, partitions));
    }
    Box::pin(async move {
        let mut responses = Vec::with_capacity(topics.len());
        for (name, topic_id, partitions) in topics {
            let partition_responses = join_all(partitions).await;
            responses.push(TopicProduceResponse {
                name,
                topic_id,
                partition_responses,
                ..Default::default()
            });
        }
        if acks == 0 {
            let failed = |topic: &TopicProduceResponse| {
                topic.partition_responses.iter().any(|partition| partition.error_code != 0)
            };
            return if responses.iter().any(failed) { Err(Close) } else { Ok(None) };
        }
        Ok(Some(ProduceResponse { responses, ..Default::default() }))
    })
}

/// Polls once; a future that is done keeps its output.
async fn begin(answer: &mut PartitionAnswer) {
    let done = std::future::poll_fn(|cx| {
        Poll::Ready(match answer.poll_unpin(cx) {
            Poll::Ready(response) => Some(response),
            Poll::Pending => None,
        })
    })
    .await;
    if let Some(response) = done {
        *answer = Box::pin(std::future::ready(response));
    }
}

struct FoundTopic {
    id: Uuid,
    partitions: usize,
    config: Rc<TopicConfig>,
    internal: bool,
}

fn find_topic(shard: &Rc<ShardState>, version: i16, name: &str, id: Uuid) -> Result<FoundTopic, ErrorCode> {
    let image = shard.image.borrow();
    let (topic, unknown) = match version {
        13.. => (image.topic_by_id(id), ErrorCode::UNKNOWN_TOPIC_ID),
        _ => (image.topic(name), ErrorCode::UNKNOWN_TOPIC_OR_PARTITION),
    };
    let topic = topic.ok_or(unknown)?;
    Ok(FoundTopic {
        id: topic.id,
        partitions: topic.partitions.len(),
        config: shard.topic_config(topic.id).ok_or(unknown)?,
        internal: topic.is_internal(),
    })
}

fn check(
    shard: &Rc<ShardState>,
    context: &RequestContext,
    acks: i16,
    transactional: bool,
    topic: &Result<FoundTopic, ErrorCode>,
    data: &PartitionProduceData,
) -> Result<(PartitionKey, ValidBatch), InvalidBatch> {
    let refuse = |code: ErrorCode, message: String| InvalidBatch { code, message, record_errors: Vec::new() };
    let plain = |code: ErrorCode| refuse(code, code.message().to_string());
    if !(-1..=1).contains(&acks) {
        return Err(plain(ErrorCode::INVALID_REQUIRED_ACKS));
    }
    let topic = topic.as_ref().map_err(|code| plain(*code))?;
    if usize::try_from(data.index).map_or(true, |index| index >= topic.partitions) {
        return Err(plain(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION));
    }
    if topic.internal && &*context.client_id != "__admin_client" {
        return Err(plain(ErrorCode::INVALID_TOPIC_EXCEPTION));
    }
    if transactional {
        let message = "transactions are not supported yet".to_string();
        return Err(refuse(ErrorCode::INVALID_REQUEST, message));
    }
    let records = data.records.clone().unwrap_or_default();
    let rules = rules(shard, context.api_version, &topic.config);
    let batch = validate(records, &rules)?;
    if batch.header().attributes.is_transactional() {
        // Kafka: the id isn't allowed to, as there is none.
        return Err(plain(ErrorCode::TRANSACTIONAL_ID_AUTHORIZATION_FAILED));
    }
    let level = level(&topic.config);
    let batch = batch.recompressed(level, &rules)?;
    Ok((PartitionKey { topic_id: topic.id, partition: data.index }, batch))
}

fn rules(shard: &Rc<ShardState>, version: i16, config: &TopicConfig) -> ProduceRules {
    ProduceRules {
        compacted: config.compact,
        timestamp_type: if config.log_append_time {
            TimestampType::LogAppendTime
        } else {
            TimestampType::CreateTime
        },
        timestamp_before_max_ms: config.timestamp_before_max_ms,
        timestamp_after_max_ms: config.timestamp_after_max_ms,
        max_message_bytes: config.max_message_bytes,
        compression: match config.compression {
            CompressionType::Producer => None,
            CompressionType::Uncompressed => Some(Compression::None),
            CompressionType::Gzip => Some(Compression::Gzip),
            CompressionType::Snappy => Some(Compression::Snappy),
            CompressionType::Lz4 => Some(Compression::Lz4),
            CompressionType::Zstd => Some(Compression::Zstd),
        },
        zstd_allowed: version >= 7,
        walk_compressed: shard.node.config.ringlog.produce_validation == ProduceValidation::Full,
        ..ProduceRules::at(rt::unix_ms())
    }
}

fn level(config: &TopicConfig) -> Option<i32> {
    match config.compression {
        CompressionType::Gzip => Some(config.gzip_level),
        CompressionType::Lz4 => Some(config.lz4_level),
        CompressionType::Zstd => Some(config.zstd_level),
        CompressionType::Producer | CompressionType::Uncompressed | CompressionType::Snappy => None,
    }
}

fn append(
    shard: Rc<ShardState>,
    context: &RequestContext,
    key: PartitionKey,
    batch: ValidBatch,
    acks: i16,
    timeout_ms: i32,
) -> PartitionAnswer {
    let frame_bytes = context.frame_bytes;
    Box::pin(async move {
        let index = key.partition;
        let Some(owner) = shard.owner(&key) else {
            return failed(index, ErrorCode::NOT_LEADER_OR_FOLLOWER);
        };
        let metadata_offset = shard.image.borrow().offset;
        let piece = AppendPiece { key, batch, frame_bytes, acks, timeout_ms, metadata_offset };
        let piece = Piece::Append(piece);
        match shard.call(owner, piece).await {
            Answer::Append(answer) if answer.error.is_none() => PartitionProduceResponse {
                index,
                base_offset: answer.base_offset,
                log_append_time_ms: answer.append_time_ms,
                log_start_offset: answer.log_start_offset,
                error_message: None,
                ..Default::default()
            },
            Answer::Append(answer) => failed(index, answer.error),
            _ => failed(index, ErrorCode::NOT_LEADER_OR_FOLLOWER),
        }
    })
}

fn failed(index: i32, code: ErrorCode) -> PartitionProduceResponse {
    PartitionProduceResponse {
        index,
        error_code: code.code(),
        base_offset: -1,
        log_append_time_ms: -1,
        log_start_offset: -1,
        error_message: None,
        ..Default::default()
    }
}

fn refusal(index: i32, invalid: InvalidBatch) -> PartitionProduceResponse {
    let record_errors = invalid.record_errors.into_iter().map(|error| BatchIndexAndErrorMessage {
        batch_index: error.batch_index,
        batch_index_error_message: Some(Str::from(error.message)),
        ..Default::default()
    });
    PartitionProduceResponse {
        record_errors: record_errors.collect(),
        error_message: Some(Str::from(invalid.message)),
        ..failed(index, invalid.code)
    }
}
