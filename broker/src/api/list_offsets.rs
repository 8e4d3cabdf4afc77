//! ListOffsets (key 2): offsets by time, and the ends of partitions.

use std::collections::BTreeSet;
use std::rc::Rc;

use protocol::error::ErrorCode;
use protocol::messages::list_offsets_request::ListOffsetsPartition;
use protocol::messages::list_offsets_response::{ListOffsetsPartitionResponse, ListOffsetsTopicResponse};
use protocol::messages::{ListOffsetsRequest, ListOffsetsResponse};
use shards::PartitionKey;

use super::numbered::Numbered;
use super::partitions;
use crate::server::piece::{Answer, OffsetQuestion};
use crate::server::{Piece, RequestContext, ShardState};

/// Answers ListOffsets, partition by partition.
pub async fn handle(
    shard: &Rc<ShardState>,
    context: &RequestContext,
    request: ListOffsetsRequest,
) -> ListOffsetsResponse {
    let mut topics = Vec::with_capacity(request.topics.len());
    let mut names = Numbered::new();
    let numbers: Vec<usize> = request.topics.iter().map(|topic| names.number(&topic.name)).collect();
    let twice = &twice(&request, &numbers).await;
    let mut told = BTreeSet::new();
    for (mut topic, number) in request.topics.into_iter().zip(numbers) {
        if !twice.is_empty() {
            topic.partitions.retain(|partition| {
                let named = (number, partition.partition_index);
                !twice.contains(&named) || told.insert(named)
            });
        }
        let found = shard.image.borrow().topic(&topic.name).map(|found| (found.id, found.partitions.len()));
        let answer = |partition: ListOffsetsPartition| async move {
            match twice.contains(&(number, partition.partition_index)) {
                true => failed(partition.partition_index, ErrorCode::INVALID_REQUEST),
                false => one(shard, context.api_version, found, &partition).await,
            }
        };
        let partitions = partitions::for_each(topic.partitions, answer).await;
        topics.push(ListOffsetsTopicResponse { name: topic.name, partitions, ..Default::default() });
    }
    ListOffsetsResponse { topics, ..Default::default() }
}

/// The partitions named more than once, by their topics' numbers: as in Kafka each is answered once, with INVALID_REQUEST.
async fn twice(request: &ListOffsetsRequest, numbers: &[usize]) -> BTreeSet<(usize, i32)> {
    let (mut seen, mut twice) = (BTreeSet::new(), BTreeSet::new());
    for (topic, number) in request.topics.iter().zip(numbers) {
        for partition in &topic.partitions {
            let named = (*number, partition.partition_index);
            if !seen.insert(named) {
                twice.insert(named);
            }
            rt::yield_point().await;
        }
    }
    twice
}

fn failed(partition_index: i32, code: ErrorCode) -> ListOffsetsPartitionResponse {
    ListOffsetsPartitionResponse { partition_index, error_code: code.code(), ..Default::default() }
}

async fn one(
    shard: &Rc<ShardState>,
    version: i16,
    topic: Option<(protocol::types::Uuid, usize)>,
    partition: &ListOffsetsPartition,
) -> ListOffsetsPartitionResponse {
    let partition_index = partition.partition_index;
    let failed = |code| failed(partition_index, code);
    let Some((topic_id, partitions)) = topic else {
        return failed(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION);
    };
    if usize::try_from(partition_index).map_or(true, |index| index >= partitions) {
        return failed(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION);
    }
    // Special times came one by one: -3 with version 7 (KIP-734), -4 with 8 (KIP-405), -5 with 9 (KIP-1005), -6 with 11 (KIP-1023).
    let oldest = match version {
        ..7 => -2,
        7 => -3,
        8 => -4,
        9 | 10 => -5,
        11.. => -6,
    };
    if partition.timestamp < oldest {
        return failed(ErrorCode::UNSUPPORTED_VERSION);
    }
    let key = PartitionKey { topic_id, partition: partition_index };
    let question = OffsetQuestion {
        key,
        timestamp: partition.timestamp,
        leader_epoch: if version >= 4 { partition.current_leader_epoch } else { -1 },
    };
    let is_refused = |answer: &Answer| matches!(answer, Answer::ListOffset(answer) if answer.error == ErrorCode::NOT_LEADER_OR_FOLLOWER);
    match shard.ask_owner(&key, || Piece::ListOffset(question), is_refused).await {
        Some(Answer::ListOffset(answer)) => ListOffsetsPartitionResponse {
            partition_index,
            error_code: answer.error.code(),
            timestamp: answer.timestamp,
            offset: answer.offset,
            // Fencing came with version 4 (KIP-320).
            leader_epoch: if version >= 4 { answer.leader_epoch } else { -1 },
            ..Default::default()
        },
        _ => failed(ErrorCode::NOT_LEADER_OR_FOLLOWER),
    }
}
