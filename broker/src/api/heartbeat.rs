//! Heartbeat.

use std::rc::Rc;

use protocol::messages::{HeartbeatRequest, HeartbeatResponse};

use super::{Close, coordinator};
use crate::group::{GroupReply, GroupRequest};
use crate::server::{RequestContext, ShardState};

/// Answers Heartbeat 0-4, by the group's coordinator.
///
/// # Errors
/// The node is stopping.
pub async fn handle(
    shard: &Rc<ShardState>,
    _context: &RequestContext,
    request: HeartbeatRequest,
) -> Result<HeartbeatResponse, Close> {
    let group_id = request.group_id.clone();
    let request = GroupRequest::Heartbeat(request);
    match coordinator::ask(shard, &group_id, request).await? {
        GroupReply::Code(code) => {
            Ok(HeartbeatResponse { error_code: code.code(), ..HeartbeatResponse::default() })
        }
        other => Err(coordinator::unexpected(&other)),
    }
}
