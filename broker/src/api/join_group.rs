//! JoinGroup.

use std::rc::Rc;

use protocol::messages::{JoinGroupRequest, JoinGroupResponse};
use protocol::types::Uuid;

use super::{Close, coordinator};
use crate::group::{GroupReply, GroupRequest, Joiner};
use crate::server::{RequestContext, ShardState};

/// Answers JoinGroup 0-9, by the group's coordinator: once the group has formed, which may take minutes.
///
/// # Errors
/// The node is stopping.
pub async fn handle(
    shard: &Rc<ShardState>,
    context: &RequestContext,
    request: JoinGroupRequest,
) -> Result<JoinGroupResponse, Close> {
    let group_id = request.group_id.clone();
    let joiner = Joiner {
        client_id: context.client_id.clone(),
        client_host: context.client_host.clone(),
        api_version: context.api_version,
    };
    let request = GroupRequest::Join(Box::new(request), joiner, Uuid::from_random(rt::random_bytes()));
    match coordinator::ask_patiently(shard, context, &group_id, request).await? {
        GroupReply::Join(response) => Ok(response),
        other => Err(coordinator::unexpected(&other)),
    }
}
