//! OffsetCommit.

use std::rc::Rc;

use protocol::error::ErrorCode;
use protocol::messages::offset_commit_response::OffsetCommitResponsePartition;
use protocol::messages::{OffsetCommitRequest, OffsetCommitResponse};

use super::coordinator;
use crate::group::offsets::commit_refusal;
use crate::server::groups::{GroupAnswer, GroupRequest};
use crate::server::{RequestContext, ShardState};

/// Answers OffsetCommit 2-10, by the group's coordinator.
pub async fn handle(
    shard: &Rc<ShardState>,
    context: &RequestContext,
    request: OffsetCommitRequest,
) -> OffsetCommitResponse {
    let shape = request.clone();
    match coordinator::ask(shard, context, &shape.group_id, GroupRequest::Commit(known_only(shard, request)))
        .await
    {
        Some(GroupAnswer::Commit(response)) => with_unknown(&shape, response),
        _ => commit_refusal(&shape, ErrorCode::NOT_COORDINATOR),
    }
}

/// Leaves out partitions that their topic doesn't have: they get UNKNOWN_TOPIC_OR_PARTITION and are never stored.
fn known_only(shard: &Rc<ShardState>, mut request: OffsetCommitRequest) -> OffsetCommitRequest {
    let image = shard.image.borrow();
    for topic in &mut request.topics {
        let known = image.topic_by_id(topic.topic_id).or_else(|| image.topic(&topic.name));
        if let Some(known) = known {
            topic.partitions.retain(|partition| known.partition(partition.partition_index).is_some());
        }
    }
    request
}

/// Every partition asked for, once and in order; one without an answer wasn't known.
fn with_unknown(request: &OffsetCommitRequest, mut response: OffsetCommitResponse) -> OffsetCommitResponse {
    for (topic, answered) in request.topics.iter().zip(&mut response.topics) {
        let mut answers = std::mem::take(&mut answered.partitions).into_iter().peekable();
        for partition in &topic.partitions {
            let index = partition.partition_index;
            let answer = answers.next_if(|answer| answer.partition_index == index);
            answered.partitions.push(answer.unwrap_or_else(|| OffsetCommitResponsePartition {
                partition_index: index,
                error_code: ErrorCode::UNKNOWN_TOPIC_OR_PARTITION.code(),
                ..Default::default()
            }));
        }
    }
    response
}
