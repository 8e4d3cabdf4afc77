//! DeleteGroups.

use std::collections::BTreeSet;
use std::rc::Rc;

use futures_util::future::join_all;
use protocol::error::ErrorCode;
use protocol::messages::delete_groups_response::DeletableGroupResult;
use protocol::messages::{DeleteGroupsRequest, DeleteGroupsResponse};
use protocol::types::Str;

use super::coordinator;
use crate::server::groups::{GroupAnswer, GroupRequest};
use crate::server::{RequestContext, ShardState};

/// Answers DeleteGroups 0-3, by the groups' coordinators.
pub async fn handle(
    shard: &Rc<ShardState>,
    context: &RequestContext,
    request: DeleteGroupsRequest,
) -> DeleteGroupsResponse {
    // A group named twice is deleted once.
    let names: BTreeSet<Str> = request.groups_names.into_iter().collect();
    let results = names.into_iter().map(|group_id| delete(shard, context, group_id));
    DeleteGroupsResponse { results: join_all(results).await, ..DeleteGroupsResponse::default() }
}

async fn delete(shard: &Rc<ShardState>, context: &RequestContext, group_id: Str) -> DeletableGroupResult {
    let request = GroupRequest::Delete(group_id.clone());
    let code = match coordinator::ask(shard, context, &group_id, request).await {
        Some(GroupAnswer::Delete(code)) => code,
        _ => ErrorCode::NOT_COORDINATOR,
    };
    DeletableGroupResult { group_id, error_code: code.code(), ..DeletableGroupResult::default() }
}
