//! DeleteGroups.

use std::collections::BTreeSet;
use std::rc::Rc;

use protocol::messages::delete_groups_response::DeletableGroupResult;
use protocol::messages::{DeleteGroupsRequest, DeleteGroupsResponse};
use protocol::types::Str;

use super::{Close, coordinator};
use crate::group::{GroupReply, GroupRequest};
use crate::server::{RequestContext, ShardState};

/// Answers DeleteGroups 0-3, by the groups' coordinators.
///
/// # Errors
/// The node is stopping.
pub async fn handle(
    shard: &Rc<ShardState>,
    _context: &RequestContext,
    request: DeleteGroupsRequest,
) -> Result<DeleteGroupsResponse, Close> {
    // A group named twice is deleted once.
    let ids: BTreeSet<Str> = request.groups_names.into_iter().collect();
    let questions = ids.iter().map(|id| (id.clone(), GroupRequest::Delete(id.clone())));
    let replies = coordinator::ask_each(shard, questions).await?;
    let results = ids.into_iter().zip(replies).map(|(group_id, reply)| match reply {
        GroupReply::Code(code) => {
            let error_code = code.code();
            Ok(DeletableGroupResult { group_id, error_code, ..DeletableGroupResult::default() })
        }
        other => Err(coordinator::unexpected(&other)),
    });
    let results = results.collect::<Result<_, _>>()?;
    Ok(DeleteGroupsResponse { results, ..DeleteGroupsResponse::default() })
}
