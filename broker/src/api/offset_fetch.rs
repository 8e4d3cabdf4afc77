//! OffsetFetch, of one group or several (KIP-709).

use std::rc::Rc;

use protocol::messages::offset_fetch_response::OffsetFetchResponseGroup;
use protocol::messages::{OffsetFetchRequest, OffsetFetchResponse};

use super::{Close, coordinator};
use crate::group::api::{single_fetch, single_fetch_response};
use crate::group::{GroupReply, GroupRequest};
use crate::server::{RequestContext, ShardState};

/// The first version that asks for several groups.
const GROUPS_VERSION: i16 = 8;

/// Answers OffsetFetch 1-10, by the groups' coordinators.
///
/// # Errors
/// The node is stopping.
pub async fn handle(
    shard: &Rc<ShardState>,
    context: &RequestContext,
    request: OffsetFetchRequest,
) -> Result<OffsetFetchResponse, Close> {
    let version = context.api_version;
    if version < GROUPS_VERSION {
        let question = GroupRequest::Fetch(single_fetch(&request), version);
        let group = fetched(coordinator::ask(shard, &request.group_id, question).await?)?;
        return Ok(single_fetch_response(version, &request, group));
    }
    let questions =
        request.groups.into_iter().map(|group| (group.group_id.clone(), GroupRequest::Fetch(group, version)));
    let groups = coordinator::ask_each(shard, questions).await?.into_iter().map(fetched);
    let groups = groups.collect::<Result<_, _>>()?;
    Ok(OffsetFetchResponse { groups, ..OffsetFetchResponse::default() })
}

fn fetched(reply: GroupReply) -> Result<OffsetFetchResponseGroup, Close> {
    match reply {
        GroupReply::Fetch(group) => Ok(group),
        other => Err(coordinator::unexpected(&other)),
    }
}
