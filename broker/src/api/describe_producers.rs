//! DescribeProducers: the producers that partitions remember (KIP-664).

use std::rc::Rc;

use protocol::error::ErrorCode;
use protocol::messages::describe_producers_response::{PartitionResponse, ProducerState, TopicResponse};
use protocol::messages::{DescribeProducersRequest, DescribeProducersResponse};
use protocol::types::Str;
use rt::sync::Budget;

use super::numbered::Numbered;
use super::partitions;
use super::repeats::{self, Repeats};
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
    let repeats = &Repeats::within(shard.network.answer_bytes_max);
    // Repeats one after the other, so that no more than one is there that isn't counted.
    let turn = &Budget::new(1);
    let mut names = Numbered::new();
    let numbers: Vec<usize> = request.topics.iter().map(|topic| names.number(&topic.name)).collect();
    for (topic, number) in request.topics.into_iter().zip(numbers) {
        let name = &topic.name;
        // It may repeat a name of 32 KiB: the first partition is told, the others as far as there is room.
        let bad_name = &check_topic_name(name).map_err(Str::from).err();
        let describe = |index: i32| async move {
            let is_first = repeats.is_first((number, index));
            let described = match bad_name {
                Some(why) => Err(bad(repeats, why)),
                None if is_first => producers(shard, name, index).await,
                None => {
                    let _turn = turn.take(1).await;
                    producers_again(shard, repeats, name, index).await
                }
            };
            match described {
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

/// Why a topic of that name has no producers.
fn bad(repeats: &Repeats<(usize, i32)>, why: &Str) -> (ErrorCode, Str) {
    let code = ErrorCode::INVALID_TOPIC_EXCEPTION;
    (code, if repeats.fits(why.len()) { why.clone() } else { Str::from_static(code.message()) })
}

async fn producers_again(
    shard: &Rc<ShardState>,
    repeats: &Repeats<(usize, i32)>,
    topic: &str,
    index: i32,
) -> Result<Vec<ProducerRow>, (ErrorCode, Str)> {
    let refusal = || (ErrorCode::INVALID_REQUEST, repeats::too_much());
    if repeats.is_full() {
        return Err(refusal());
    }
    let rows = producers(shard, topic, index).await?;
    if repeats.fits(size_of_val(&rows[..])) { Ok(rows) } else { Err(refusal()) }
}

async fn producers(
    shard: &Rc<ShardState>,
    topic: &str,
    index: i32,
) -> Result<Vec<ProducerRow>, (ErrorCode, Str)> {
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
