//! SyncGroup.

use std::rc::Rc;

use protocol::error::ErrorCode;
use protocol::messages::{SyncGroupRequest, SyncGroupResponse};

use super::coordinator;
use crate::server::groups::{GroupAnswer, GroupRequest};
use crate::server::{RequestContext, ShardState};

/// Answers SyncGroup 0-5, by the group's coordinator.
pub async fn handle(
    shard: &Rc<ShardState>,
    context: &RequestContext,
    request: SyncGroupRequest,
) -> SyncGroupResponse {
    let group_id = request.group_id.clone();
    match coordinator::ask(shard, context, &group_id, GroupRequest::Sync(request)).await {
        Some(GroupAnswer::Sync(response)) => response,
        _ => SyncGroupResponse {
            error_code: ErrorCode::NOT_COORDINATOR.code(),
            ..SyncGroupResponse::default()
        },
    }
}
