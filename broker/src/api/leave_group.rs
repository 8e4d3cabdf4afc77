//! LeaveGroup.

use std::rc::Rc;

use protocol::error::ErrorCode;
use protocol::messages::{LeaveGroupRequest, LeaveGroupResponse};

use super::coordinator;
use crate::server::groups::{GroupAnswer, GroupRequest};
use crate::server::{RequestContext, ShardState};

/// Answers LeaveGroup 0-5, by the group's coordinator.
pub async fn handle(
    shard: &Rc<ShardState>,
    context: &RequestContext,
    request: LeaveGroupRequest,
) -> LeaveGroupResponse {
    let group_id = request.group_id.clone();
    match coordinator::ask(shard, context, &group_id, GroupRequest::Leave(request)).await {
        Some(GroupAnswer::Leave(response)) => response,
        _ => LeaveGroupResponse {
            error_code: ErrorCode::NOT_COORDINATOR.code(),
            ..LeaveGroupResponse::default()
        },
    }
}
