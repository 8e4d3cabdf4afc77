//! OffsetForLeaderEpoch: where a leader's term ended, so that a reader finds whether its log diverged (KIP-101, KIP-320).

use std::rc::Rc;

use protocol::error::ErrorCode;
use protocol::messages::offset_for_leader_epoch_request::OffsetForLeaderPartition;
use protocol::messages::offset_for_leader_epoch_response::{EpochEndOffset, OffsetForLeaderTopicResult};
use protocol::messages::{OffsetForLeaderEpochRequest, OffsetForLeaderEpochResponse};

use super::partitions;
use crate::server::admin::{AdminAnswer, AdminPiece};
use crate::server::{RequestContext, ShardState};

/// Answers OffsetForLeaderEpoch 2-4.
pub async fn handle(
    shard: &Rc<ShardState>,
    _context: &RequestContext,
    request: OffsetForLeaderEpochRequest,
) -> OffsetForLeaderEpochResponse {
    let mut topics = Vec::with_capacity(request.topics.len());
    for topic in request.topics {
        let name = topic.topic.as_str();
        let look = |asked: OffsetForLeaderPartition| async move {
            let index = asked.partition;
            let found = look(shard, name, &asked).await;
            let (leader_epoch, end_offset) = found.unwrap_or((-1, -1));
            EpochEndOffset {
                error_code: found.err().unwrap_or(ErrorCode::NONE).code(),
                partition: index,
                leader_epoch,
                end_offset,
                ..EpochEndOffset::default()
            }
        };
        let partitions = partitions::for_each(topic.partitions, look).await;
        topics.push(OffsetForLeaderTopicResult { topic: topic.topic, partitions, ..Default::default() });
    }
    OffsetForLeaderEpochResponse { topics, ..OffsetForLeaderEpochResponse::default() }
}

async fn look(
    shard: &Rc<ShardState>,
    topic: &str,
    asked: &OffsetForLeaderPartition,
) -> Result<(i32, i64), ErrorCode> {
    let key = partitions::find(shard, topic, asked.partition)?;
    let (current_epoch, epoch) = (asked.current_leader_epoch, asked.leader_epoch);
    match partitions::ask(shard, &key, AdminPiece::EpochEnd { key, current_epoch, epoch }).await? {
        AdminAnswer::EpochEnd(found) => found,
        _ => Err(ErrorCode::UNKNOWN_SERVER_ERROR),
    }
}
