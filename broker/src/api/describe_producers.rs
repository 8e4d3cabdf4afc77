//! DescribeProducers: the producers that partitions remember (KIP-664).

use std::rc::Rc;

use protocol::error::ErrorCode;
use protocol::messages::describe_producers_response::{PartitionResponse, ProducerState, TopicResponse};
use protocol::messages::{DescribeProducersRequest, DescribeProducersResponse};
use protocol::types::Str;

use super::partitions;
use crate::metadata::controller::check_topic_name;
use crate::server::admin::{AdminAnswer, AdminPiece, ProducerRow};
use crate::server::{RequestContext, ShardState};

/// Answers DescribeProducers 0.
pub async fn handle(
    shard: &Rc<ShardState>,
    _context: &RequestContext,
    request: DescribeProducersRequest,
) -> DescribeProducersResponse {
    let mut topics = Vec::with_capacity(request.topics.len());
    for topic in request.topics {
        let name = topic.name.as_str();
        let describe = |index: i32| async move {
            match producers(shard, name, index).await {
                Ok(rows) => PartitionResponse {
                    partition_index: index,
                    active_producers: rows.into_iter().map(told).collect(),
                    ..PartitionResponse::default()
                },
                Err((code, message)) => PartitionResponse {
                    partition_index: index,
                    error_code: code.code(),
                    error_message: Some(message),
                    ..PartitionResponse::default()
                },
            }
        };
        let partitions = partitions::for_each(topic.partition_indexes, describe).await;
        topics.push(TopicResponse { name: topic.name, partitions, ..TopicResponse::default() });
    }
    DescribeProducersResponse { topics, ..DescribeProducersResponse::default() }
}

async fn producers(
    shard: &Rc<ShardState>,
    topic: &str,
    index: i32,
) -> Result<Vec<ProducerRow>, (ErrorCode, Str)> {
    check_topic_name(topic).map_err(|why| (ErrorCode::INVALID_TOPIC_EXCEPTION, Str::from(why)))?;
    let plain = |code: ErrorCode| (code, Str::from_static(code.message()));
    let key = partitions::find(shard, topic, index).map_err(plain)?;
    match partitions::ask(shard, &key, AdminPiece::Producers(key)).await.map_err(plain)? {
        AdminAnswer::Producers(rows) => rows.map_err(plain),
        _ => Err(plain(ErrorCode::UNKNOWN_SERVER_ERROR)),
    }
}

fn told(row: ProducerRow) -> ProducerState {
    ProducerState {
        producer_id: row.id,
        producer_epoch: i32::from(row.epoch),
        last_sequence: row.last_sequence,
        last_timestamp: row.last_timestamp_ms,
        coordinator_epoch: row.coordinator_epoch,
        current_txn_start_offset: row.txn_start_offset,
        ..ProducerState::default()
    }
}
