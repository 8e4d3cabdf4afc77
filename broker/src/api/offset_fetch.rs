//! OffsetFetch, of one group or several (KIP-709).

use std::rc::Rc;

use futures_util::future::join_all;
use protocol::error::ErrorCode;
use protocol::messages::offset_fetch_request::OffsetFetchRequestGroup;
use protocol::messages::offset_fetch_response::OffsetFetchResponseGroup;
use protocol::messages::{OffsetFetchRequest, OffsetFetchResponse};

use super::coordinator;
use crate::group::api::{fetch_refusal, single_fetch, single_fetch_response};
use crate::server::groups::{GroupAnswer, GroupRequest};
use crate::server::{RequestContext, ShardState};

/// The first version that asks for several groups.
const GROUPS_VERSION: i16 = 8;

/// Answers OffsetFetch 1-10, by the groups' coordinators.
pub async fn handle(
    shard: &Rc<ShardState>,
    context: &RequestContext,
    request: OffsetFetchRequest,
) -> OffsetFetchResponse {
    if context.api_version < GROUPS_VERSION {
        let group = fetch(shard, context, single_fetch(&request)).await;
        return single_fetch_response(context.api_version, &request, group);
    }
    let groups = request.groups.into_iter().map(|group| fetch(shard, context, group));
    OffsetFetchResponse { groups: join_all(groups).await, ..OffsetFetchResponse::default() }
}

async fn fetch(
    shard: &Rc<ShardState>,
    context: &RequestContext,
    group: OffsetFetchRequestGroup,
) -> OffsetFetchResponseGroup {
    let group_id = group.group_id.clone();
    match coordinator::ask(shard, context, &group_id, GroupRequest::Fetch(group)).await {
        Some(GroupAnswer::Fetch(response)) => response,
        _ => fetch_refusal(group_id, ErrorCode::NOT_COORDINATOR),
    }
}
