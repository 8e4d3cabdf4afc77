//! AlterPartitionReassignments (KIP-455).

use std::rc::Rc;

use protocol::messages::{AlterPartitionReassignmentsRequest, AlterPartitionReassignmentsResponse};

use super::controller;
use crate::metadata::{ControllerReply, ControllerRequest};
use crate::server::{RequestContext, ShardState};

/// Answers AlterPartitionReassignments 0-1.
pub async fn handle(
    shard: &Rc<ShardState>,
    _context: &RequestContext,
    request: AlterPartitionReassignmentsRequest,
) -> AlterPartitionReassignmentsResponse {
    match controller::ask(shard, ControllerRequest::AlterPartitionReassignments(request)).await {
        ControllerReply::AlterPartitionReassignments(response) => response,
        reply => AlterPartitionReassignmentsResponse {
            error_code: reply.failure().code(),
            ..AlterPartitionReassignmentsResponse::default()
        },
    }
}
