//! JoinGroup.

use std::rc::Rc;

use protocol::error::ErrorCode;
use protocol::messages::{JoinGroupRequest, JoinGroupResponse};
use protocol::types::{Str, Uuid};

use super::coordinator;
use crate::server::groups::{GroupAnswer, GroupRequest};
use crate::server::{RequestContext, ShardState};

/// Answers JoinGroup 0-9, by the group's coordinator: once the group has formed, which may take minutes.
pub async fn handle(
    shard: &Rc<ShardState>,
    context: &RequestContext,
    request: JoinGroupRequest,
) -> JoinGroupResponse {
    let (group_id, member_id) = (request.group_id.clone(), request.member_id.clone());
    let request = GroupRequest::Join(Box::new(request), Uuid::from_random(rt::random_bytes()));
    match coordinator::ask(shard, context, &group_id, request).await {
        Some(GroupAnswer::Join(response)) => *response,
        _ => JoinGroupResponse {
            error_code: ErrorCode::NOT_COORDINATOR.code(),
            member_id,
            protocol_name: Some(Str::default()),
            ..JoinGroupResponse::default()
        },
    }
}
