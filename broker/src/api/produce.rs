//! Produce (key 0): batches to partitions.
//!
//! Two stages: stage one checks every batch and queues them at their owners, stage two waits for the answers. Stage one of a connection's next
//! Produce may run while stage two of this one waits; batches of one partition are appended in the order of their requests.

use std::collections::BTreeSet;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Waker};

use futures_util::future::{FutureExt, join_all, maybe_done};
use protocol::error::ErrorCode;
use protocol::messages::ProduceRequest;
use protocol::messages::ProduceResponse;
use protocol::messages::produce_request::{PartitionProduceData, TopicProduceData};
use protocol::messages::produce_response::{
    BatchIndexAndErrorMessage, PartitionProduceResponse, TopicProduceResponse,
};
use protocol::records::{Compression, InvalidBatch, ProduceRules, TimestampType, ValidBatch, validate};
use protocol::types::{Str, Uuid};
use rt::ShardId;
use shards::PartitionKey;

use super::Close;
use super::numbered::Numbered;
use super::parts::Parts;
use crate::config::TopicConfig;
use crate::config::broker::ProduceValidation;
use crate::config::topic::CompressionType;
use crate::server::piece::{Answer, AppendAnswer, AppendPiece};
use crate::server::{Piece, RequestContext, ShardState};

/// Stage one; its output is stage two, whose output is the answer: none for acks=0, where errors close the connection.
pub async fn start(
    shard: Rc<ShardState>,
    context: RequestContext,
    mut request: ProduceRequest,
) -> impl Future<Output = Result<Option<ProduceResponse>, Close>> {
    let acks = request.acks;
    keep_last_of_each(&mut request.topic_data).await;
    let mut responses = Vec::with_capacity(request.topic_data.len());
    // With their places: topic and partition by position.
    let mut batches: Vec<((usize, usize), PartitionKey, ValidBatch)> = Vec::new();
    for topic in request.topic_data {
        let found = find_topic(&shard, context.api_version, &topic.name, topic.topic_id);
        let mut partition_responses = Vec::with_capacity(topic.partition_data.len());
        for data in topic.partition_data {
            let checked = check(&shard, &context, acks, request.transactional_id.is_some(), &found, &data);
            let response = match checked {
                Ok((key, batch)) => {
                    batches.push(((responses.len(), partition_responses.len()), key, batch));
                    // What stands until the owner says better.
                    failed(data.index, ErrorCode::NOT_LEADER_OR_FOLLOWER)
                }
                Err(refused) => refusal(data.index, refused),
            };
            partition_responses.push(response);
            // A small batch may have been decompressed to much.
            rt::yield_point().await;
        }
        responses.push(TopicProduceResponse {
            name: topic.name,
            topic_id: topic.topic_id,
            partition_responses,
            ..Default::default()
        });
    }
    let keys: Vec<PartitionKey> = batches.iter().map(|(_, key, _)| *key).collect();
    shard.held.over(&keys).await;
    // From here on without an await: a partition that goes to another core doesn't go without what is routed to it.
    let mut by_owner: Parts<ShardId, (usize, usize), (PartitionKey, ValidBatch)> = Parts::new();
    for (place, key, batch) in batches {
        if let Some(owner) = shard.placement.borrow().owner(&key) {
            by_owner.add(owner, place, (key, batch));
        }
    }
    let metadata_offset = shard.image.borrow().offset;
    let calls = by_owner.into_iter().map(|(owner, (places, batches))| {
        let (shard, allocation_bytes, timeout_ms) =
            (Rc::clone(&shard), context.allocation_bytes, request.timeout_ms);
        let piece =
            Piece::Append(AppendPiece { batches, allocation_bytes, acks, timeout_ms, metadata_offset });
        async move { (places, shard.call(owner, piece).await) }
    });
    let mut answers = maybe_done(join_all(calls));
    // Queued at its owner, here or behind a lane, before the next request of this connection is looked at. Stage two polls anew, so nobody
    // has to be woken for this poll; a request of many partitions would hold more wakers of one task than the executor can count.
    let _ = answers.poll_unpin(&mut Context::from_waker(Waker::noop()));
    async move {
        (&mut answers).await;
        for (places, answer) in Pin::new(&mut answers).take_output().into_iter().flatten() {
            let Answer::Append(answers) = answer else { continue };
            for ((topic, partition), answer) in places.into_iter().zip(answers) {
                take(&mut responses[topic].partition_responses[partition], answer);
            }
        }
        if acks == 0 {
            let mut partitions = responses.iter().flat_map(|topic| &topic.partition_responses);
            return if partitions.any(|partition| partition.error_code != 0) { Err(Close) } else { Ok(None) };
        }
        Ok(Some(ProduceResponse { responses, ..Default::default() }))
    }
}

/// Of a partition named more than once the last counts, and the others aren't answered, as in Kafka.
async fn keep_last_of_each(topics: &mut Vec<TopicProduceData>) {
    if let [only] = &topics[..]
        && only.partition_data.len() == 1
    {
        return;
    }
    let mut names = Numbered::new();
    let mut seen = BTreeSet::new();
    // From the last to the first.
    let mut is_kept = Vec::new();
    for topic in topics.iter().rev() {
        let number = names.number((&topic.name, topic.topic_id));
        for data in topic.partition_data.iter().rev() {
            is_kept.push(seen.insert((number, data.index)));
            rt::yield_point().await;
        }
    }
    if !is_kept.iter().all(|is_kept| *is_kept) {
        for topic in topics.iter_mut() {
            topic.partition_data.retain(|_| is_kept.pop().unwrap_or(true));
        }
    }
    topics.retain(|topic| !topic.partition_data.is_empty());
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

fn take(response: &mut PartitionProduceResponse, answer: AppendAnswer) {
    *response = if answer.error.is_error() {
        failed(response.index, answer.error)
    } else {
        PartitionProduceResponse {
            index: response.index,
            base_offset: answer.base_offset,
            log_append_time_ms: answer.append_time_ms,
            log_start_offset: answer.log_start_offset,
            error_message: None,
            ..Default::default()
        }
    };
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
