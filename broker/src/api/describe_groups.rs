//! DescribeGroups.

use std::collections::BTreeMap;
use std::rc::Rc;

use protocol::error::ErrorCode;
use protocol::messages::describe_groups_response::DescribedGroup;
use protocol::messages::{DescribeGroupsRequest, DescribeGroupsResponse};
use protocol::types::Str;

use super::repeats::{self, Repeats};
use super::{Close, authorized, coordinator};
use crate::group::{GroupReply, GroupRequest};
use crate::server::{RequestContext, ShardState};

/// Answers DescribeGroups 0-6, by the groups' coordinators. A group is looked at once, and told wherever it is named, as in Kafka.
///
/// # Errors
/// The node is stopping.
pub async fn handle(
    shard: &Rc<ShardState>,
    context: &RequestContext,
    request: DescribeGroupsRequest,
) -> Result<DescribeGroupsResponse, Close> {
    coordinator::check_count(request.groups.len())?;
    let described = describe(shard, context.api_version, &request).await?;
    let repeats = Repeats::within(shard.network.answer_bytes_max);
    let groups = request.groups.into_iter().map(|id| match described.get(&id) {
        Some(group) if repeats.is_first(id.clone()) || repeats.fits(bytes(group)) => group.clone(),
        _ => DescribedGroup {
            group_id: id,
            error_code: ErrorCode::INVALID_REQUEST.code(),
            error_message: (context.api_version >= MESSAGE_VERSION).then(repeats::too_much),
            ..DescribedGroup::default()
        },
    });
    Ok(DescribeGroupsResponse { groups: groups.collect(), ..DescribeGroupsResponse::default() })
}

/// The first version that tells what is wrong.
const MESSAGE_VERSION: i16 = 6;

/// The groups asked for, each once.
async fn describe(
    shard: &Rc<ShardState>,
    version: i16,
    request: &DescribeGroupsRequest,
) -> Result<BTreeMap<Str, DescribedGroup>, Close> {
    let mut described: BTreeMap<Str, DescribedGroup> =
        request.groups.iter().map(|id| (id.clone(), DescribedGroup::default())).collect();
    let questions: Vec<_> =
        described.keys().map(|id| (id.clone(), GroupRequest::Describe(id.clone(), version))).collect();
    let replies = coordinator::ask_each(shard, questions.into_iter()).await?;
    for (told, reply) in described.values_mut().zip(replies) {
        let GroupReply::Describe(mut group) = reply else { return Err(coordinator::unexpected(&reply)) };
        if request.include_authorized_operations && group.error_code == ErrorCode::NONE.code() {
            group.authorized_operations = authorized::ON_GROUP;
        }
        *told = group;
    }
    Ok(described)
}

/// What a group takes in an answer and until it is sent, about.
fn bytes(group: &DescribedGroup) -> usize {
    let members = group.members.iter();
    let members = members
        .map(|member| size_of_val(member) + member.member_metadata.len() + member.member_assignment.len());
    size_of_val(group) + members.sum::<usize>()
}
