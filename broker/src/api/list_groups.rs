//! ListGroups.

use std::rc::Rc;

use protocol::error::ErrorCode;
use protocol::messages::{ListGroupsRequest, ListGroupsResponse};
use protocol::types::Str;

use super::coordinator;
use crate::server::groups::{GroupAnswer, GroupRequest};
use crate::server::{RequestContext, ShardState};

/// Answers ListGroups 0-5: the groups of all coordinators on this node, by id.
pub async fn handle(
    shard: &Rc<ShardState>,
    context: &RequestContext,
    request: ListGroupsRequest,
) -> ListGroupsResponse {
    let texts = |texts: &[Str]| texts.iter().map(Str::to_string).collect::<Vec<String>>();
    let question =
        || GroupRequest::List { states: texts(&request.states_filter), types: texts(&request.types_filter) };
    let mut groups = Vec::new();
    for answer in coordinator::ask_all(shard, context, question).await {
        match answer {
            Some(GroupAnswer::List(Ok(some))) => groups.extend(some),
            // Moved, or about to: not ours.
            Some(GroupAnswer::List(Err(ErrorCode::NOT_COORDINATOR))) | None => {}
            Some(GroupAnswer::List(Err(code))) => return failed(code),
            Some(_) => return failed(ErrorCode::UNKNOWN_SERVER_ERROR),
        }
    }
    groups.sort_by(|one, other| one.group_id.cmp(&other.group_id));
    ListGroupsResponse { groups, ..ListGroupsResponse::default() }
}

fn failed(code: ErrorCode) -> ListGroupsResponse {
    ListGroupsResponse { error_code: code.code(), ..ListGroupsResponse::default() }
}
