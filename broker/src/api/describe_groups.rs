//! DescribeGroups.

use std::rc::Rc;

use futures_util::future::join_all;
use protocol::error::ErrorCode;
use protocol::messages::describe_groups_response::DescribedGroup;
use protocol::messages::{DescribeGroupsRequest, DescribeGroupsResponse};
use protocol::types::Str;

use super::coordinator;
use crate::server::groups::{GroupAnswer, GroupRequest};
use crate::server::{RequestContext, ShardState};

/// Answers DescribeGroups 0-6, by the groups' coordinators.
pub async fn handle(
    shard: &Rc<ShardState>,
    context: &RequestContext,
    request: DescribeGroupsRequest,
) -> DescribeGroupsResponse {
    let groups = request.groups.into_iter().map(|group_id| describe(shard, context, group_id));
    DescribeGroupsResponse { groups: join_all(groups).await, ..DescribeGroupsResponse::default() }
}

async fn describe(shard: &Rc<ShardState>, context: &RequestContext, group_id: Str) -> DescribedGroup {
    let request = GroupRequest::Describe(group_id.clone());
    match coordinator::ask(shard, context, &group_id, request).await {
        Some(GroupAnswer::Describe(group)) => group,
        _ => DescribedGroup {
            group_id,
            error_code: ErrorCode::NOT_COORDINATOR.code(),
            ..DescribedGroup::default()
        },
    }
}
