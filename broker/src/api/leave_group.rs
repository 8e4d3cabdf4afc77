//! LeaveGroup.

use std::rc::Rc;

use protocol::messages::{LeaveGroupRequest, LeaveGroupResponse};

use super::{Close, coordinator};
use crate::group::{GroupReply, GroupRequest};
use crate::server::{RequestContext, ShardState};

/// Answers LeaveGroup 0-5, by the group's coordinator.
///
/// # Errors
/// The node is stopping.
pub async fn handle(
    shard: &Rc<ShardState>,
    context: &RequestContext,
    request: LeaveGroupRequest,
) -> Result<LeaveGroupResponse, Close> {
    let group_id = request.group_id.clone();
    let request = GroupRequest::Leave(request, context.api_version);
    match coordinator::ask(shard, &group_id, request).await? {
        GroupReply::Leave(response) => Ok(response),
        other => Err(coordinator::unexpected(&other)),
    }
}
