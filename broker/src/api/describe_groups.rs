//! DescribeGroups.

use std::rc::Rc;

use protocol::error::ErrorCode;
use protocol::messages::{DescribeGroupsRequest, DescribeGroupsResponse};

use super::{Close, authorized, coordinator};
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
    let (version, with_operations) = (context.api_version, request.include_authorized_operations);
    let questions = request.groups.into_iter().map(|id| (id.clone(), GroupRequest::Describe(id, version)));
    let groups = coordinator::ask_each(shard, questions).await?.into_iter().map(|reply| match reply {
        GroupReply::Describe(mut group) => {
            if with_operations && group.error_code == ErrorCode::NONE.code() {
                group.authorized_operations = authorized::ON_GROUP;
            }
            Ok(group)
        }
        other => Err(coordinator::unexpected(&other)),
    });
    let groups = groups.collect::<Result<_, _>>()?;
    Ok(DescribeGroupsResponse { groups, ..DescribeGroupsResponse::default() })
}
