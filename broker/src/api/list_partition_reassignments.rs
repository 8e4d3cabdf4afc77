//! ListPartitionReassignments (KIP-455).

use std::rc::Rc;

use protocol::messages::{ListPartitionReassignmentsRequest, ListPartitionReassignmentsResponse};

use crate::server::{RequestContext, ShardState};

/// Answers ListPartitionReassignments 0: none is under way, for an accepted one has nothing to copy and is over at once
/// (`metadata/controller/reassign.rs`).
pub async fn handle(
    _shard: &Rc<ShardState>,
    _context: &RequestContext,
    _request: ListPartitionReassignmentsRequest,
) -> ListPartitionReassignmentsResponse {
    ListPartitionReassignmentsResponse::default()
}
