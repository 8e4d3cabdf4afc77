//! A group request on the shard that owns the coordinator's partition.

use std::rc::Rc;

use protocol::error::ErrorCode;

use super::request::{GroupAnswer, GroupRequest};
use super::topics::ImageTopics;
use crate::group::RequestContext;
use crate::server::ShardState;

/// Hands the request to the coordinator of that partition of `__consumer_offsets`; without one here, it is NOT_COORDINATOR.
pub async fn handle(
    shard: Rc<ShardState>,
    partition: i32,
    context: RequestContext,
    request: GroupRequest,
) -> GroupAnswer {
    let Some(running) = shard.coordinators.get(partition) else {
        return request.refused(ErrorCode::NOT_COORDINATOR);
    };
    let coordinator = running.coordinator;
    match request {
        GroupRequest::Join(request, uuid) => {
            GroupAnswer::Join(Box::new(coordinator.join(context, *request, uuid).await))
        }
        GroupRequest::Sync(request) => GroupAnswer::Sync(coordinator.sync(context, request).await),
        GroupRequest::Heartbeat(request) => GroupAnswer::Heartbeat(coordinator.heartbeat(request).await),
        GroupRequest::Leave(request) => GroupAnswer::Leave(coordinator.leave(context, request).await),
        GroupRequest::Commit(request) => {
            GroupAnswer::Commit(coordinator.offset_commit(context, request, &ImageTopics(shard)).await)
        }
        GroupRequest::Fetch(request) => {
            GroupAnswer::Fetch(coordinator.offset_fetch(context, request, &ImageTopics(shard)).await)
        }
        GroupRequest::List { states, types } => GroupAnswer::List(coordinator.list(states, types).await),
        GroupRequest::Describe(group_id) => {
            GroupAnswer::Describe(coordinator.describe(context, group_id).await)
        }
        GroupRequest::Delete(group_id) => GroupAnswer::Delete(coordinator.delete(group_id).await),
    }
}
