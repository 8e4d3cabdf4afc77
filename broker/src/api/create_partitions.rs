//! CreatePartitions.

use std::rc::Rc;

use protocol::messages::create_partitions_response::CreatePartitionsTopicResult;
use protocol::messages::{CreatePartitionsRequest, CreatePartitionsResponse};
use protocol::types::Str;

use super::controller;
use crate::metadata::{ControllerReply, ControllerRequest};
use crate::server::{RequestContext, ShardState};

/// Answers CreatePartitions 0-3. The new partitions serve when the answer leaves.
pub async fn handle(
    shard: &Rc<ShardState>,
    _context: &RequestContext,
    request: CreatePartitionsRequest,
) -> CreatePartitionsResponse {
    let names: Vec<Str> = request.topics.iter().map(|topic| topic.name.clone()).collect();
    match controller::ask(shard, ControllerRequest::CreatePartitions(request)).await {
        ControllerReply::CreatePartitions(response) => response,
        reply => {
            let code = reply.failure();
            let failed = names.into_iter().map(|name| CreatePartitionsTopicResult {
                name,
                error_code: code.code(),
                error_message: Some(Str::from_static(code.message())),
                ..CreatePartitionsTopicResult::default()
            });
            CreatePartitionsResponse { results: failed.collect(), ..CreatePartitionsResponse::default() }
        }
    }
}
