//! Heartbeat.

use std::rc::Rc;

use protocol::error::ErrorCode;
use protocol::messages::{HeartbeatRequest, HeartbeatResponse};

use super::coordinator;
use crate::server::groups::{GroupAnswer, GroupRequest};
use crate::server::{RequestContext, ShardState};

/// Answers Heartbeat 0-4, by the group's coordinator.
pub async fn handle(
    shard: &Rc<ShardState>,
    context: &RequestContext,
    request: HeartbeatRequest,
) -> HeartbeatResponse {
    let group_id = request.group_id.clone();
    match coordinator::ask(shard, context, &group_id, GroupRequest::Heartbeat(request)).await {
        Some(GroupAnswer::Heartbeat(response)) => response,
        _ => HeartbeatResponse {
            error_code: ErrorCode::NOT_COORDINATOR.code(),
            ..HeartbeatResponse::default()
        },
    }
}
