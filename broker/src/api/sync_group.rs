//! SyncGroup.

use std::rc::Rc;

use protocol::messages::{SyncGroupRequest, SyncGroupResponse};

use super::{Close, coordinator};
use crate::group::{GroupReply, GroupRequest};
use crate::server::{RequestContext, ShardState};

/// Answers SyncGroup 0-5, by the group's coordinator: once the leader has assigned, which may take minutes.
///
/// # Errors
/// The node is stopping.
pub async fn handle(
    shard: &Rc<ShardState>,
    context: &RequestContext,
    request: SyncGroupRequest,
) -> Result<SyncGroupResponse, Close> {
    let group_id = request.group_id.clone();
    let request = GroupRequest::Sync(Box::new(request), context.api_version);
    match coordinator::ask_patiently(shard, context, &group_id, request).await? {
        GroupReply::Sync(response) => Ok(response),
        other => Err(coordinator::unexpected(&other)),
    }
}
