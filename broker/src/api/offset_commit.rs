//! OffsetCommit.

use std::rc::Rc;

use protocol::error::ErrorCode;
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
    match coordinator::ask(shard, context, &shape.group_id, GroupRequest::Commit(request)).await {
        Some(GroupAnswer::Commit(response)) => response,
        _ => commit_refusal(&shape, ErrorCode::NOT_COORDINATOR),
    }
}
