//! OffsetCommit.

use std::rc::Rc;

use protocol::messages::{OffsetCommitRequest, OffsetCommitResponse};

use super::{Close, coordinator};
use crate::group::{GroupReply, GroupRequest};
use crate::server::{RequestContext, ShardState};

/// Answers OffsetCommit 2-10, by the group's coordinator.
///
/// # Errors
/// The node is stopping.
pub async fn handle(
    shard: &Rc<ShardState>,
    context: &RequestContext,
    request: OffsetCommitRequest,
) -> Result<OffsetCommitResponse, Close> {
    let group_id = request.group_id.clone();
    let request = GroupRequest::Commit(Box::new(request), Vec::new(), context.api_version);
    match coordinator::ask(shard, &group_id, request).await? {
        GroupReply::Commit(response) => Ok(response),
        other => Err(coordinator::unexpected(&other)),
    }
}
