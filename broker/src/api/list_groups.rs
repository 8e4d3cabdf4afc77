//! ListGroups.

use std::rc::Rc;

use protocol::error::ErrorCode;
use protocol::messages::{ListGroupsRequest, ListGroupsResponse};
use protocol::types::Str;

use super::{Close, coordinator};
use crate::group::{GroupReply, GroupRequest};
use crate::server::{RequestContext, ShardState};

/// Answers ListGroups 0-5: the groups of all coordinators on this node, by id.
///
/// # Errors
/// A coordinator made a mistake.
pub async fn handle(
    shard: &Rc<ShardState>,
    _context: &RequestContext,
    request: ListGroupsRequest,
) -> Result<ListGroupsResponse, Close> {
    let texts = |texts: &[Str]| texts.iter().map(Str::to_string).collect::<Vec<String>>();
    let question =
        || GroupRequest::List { states: texts(&request.states_filter), types: texts(&request.types_filter) };
    let mut groups = Vec::new();
    for reply in coordinator::ask_all(shard, question).await {
        match reply {
            GroupReply::List(some) => groups.extend(some),
            // Moved, or about to: not ours.
            GroupReply::Code(ErrorCode::NOT_COORDINATOR) => {}
            GroupReply::Code(code) => {
                return Ok(ListGroupsResponse { error_code: code.code(), ..ListGroupsResponse::default() });
            }
            other => return Err(coordinator::unexpected(&other)),
        }
    }
    groups.sort_by(|one, other| one.group_id.cmp(&other.group_id));
    Ok(ListGroupsResponse { groups, ..ListGroupsResponse::default() })
}
