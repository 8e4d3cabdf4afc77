//! ElectLeaders (KIP-183, KIP-460).

use std::rc::Rc;

use protocol::messages::{ElectLeadersRequest, ElectLeadersResponse};

use super::controller;
use crate::metadata::{ControllerReply, ControllerRequest};
use crate::server::{RequestContext, ShardState};

/// Answers ElectLeaders 0-2; version 0 knows only the election of preferred leaders.
pub async fn handle(
    shard: &Rc<ShardState>,
    _context: &RequestContext,
    request: ElectLeadersRequest,
) -> ElectLeadersResponse {
    match controller::ask(shard, ControllerRequest::ElectLeaders(request)).await {
        ControllerReply::ElectLeaders(response) => response,
        reply => {
            ElectLeadersResponse { error_code: reply.failure().code(), ..ElectLeadersResponse::default() }
        }
    }
}
