//! DescribeGroups.

use std::rc::Rc;

use protocol::messages::{DescribeGroupsRequest, DescribeGroupsResponse};

use super::{Close, coordinator};
use crate::group::{GroupReply, GroupRequest};
use crate::server::{RequestContext, ShardState};

/// Answers DescribeGroups 0-6, by the groups' coordinators.
///
/// # Errors
/// The node is stopping.
pub async fn handle(
    shard: &Rc<ShardState>,
    context: &RequestContext,
    request: DescribeGroupsRequest,
) -> Result<DescribeGroupsResponse, Close> {
    let version = context.api_version;
    let questions = request.groups.into_iter().map(|id| (id.clone(), GroupRequest::Describe(id, version)));
    let groups = coordinator::ask_each(shard, questions).await?.into_iter().map(|reply| match reply {
        GroupReply::Describe(group) => Ok(group),
        other => Err(coordinator::unexpected(&other)),
    });
    let groups = groups.collect::<Result<_, _>>()?;
    Ok(DescribeGroupsResponse { groups, ..DescribeGroupsResponse::default() })
}
