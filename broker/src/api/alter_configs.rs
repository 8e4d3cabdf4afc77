//! AlterConfigs: all configs of a resource replaced at once. Deprecated in favour of IncrementalAlterConfigs, but still in use.

use std::rc::Rc;

use protocol::messages::alter_configs_request::AlterConfigsResource;
use protocol::messages::alter_configs_response::AlterConfigsResourceResponse;
use protocol::messages::{AlterConfigsRequest, AlterConfigsResponse};

use super::altered::{self, Refusal};
use super::{controller, own_broker};
use crate::metadata::{ControllerReply, ControllerRequest};
use crate::server::{RequestContext, ShardState};

/// Answers AlterConfigs 0-2. What was changed is in effect on all shards when the answer leaves.
pub async fn handle(
    shard: &Rc<ShardState>,
    _context: &RequestContext,
    request: AlterConfigsRequest,
) -> AlterConfigsResponse {
    let AlterConfigsRequest { resources, validate_only, unknown_tags } = request;
    let refused = |resource: &AlterConfigsResource| {
        own_broker::refused(shard, resource.resource_type, &resource.resource_name)
    };
    let ask = async |resources| {
        let asked = AlterConfigsRequest { resources, validate_only, unknown_tags };
        match controller::ask(shard, ControllerRequest::AlterConfigs(asked)).await {
            ControllerReply::AlterConfigs(response) => Ok(response.responses),
            reply => Err(reply.failure()),
        }
    };
    let responses = altered::alter(resources, refused, ask, answer).await;
    AlterConfigsResponse { responses, ..AlterConfigsResponse::default() }
}

fn answer(resource: &AlterConfigsResource, (code, message): Refusal) -> AlterConfigsResourceResponse {
    AlterConfigsResourceResponse {
        error_code: code.code(),
        error_message: Some(message),
        resource_type: resource.resource_type,
        resource_name: resource.resource_name.clone(),
        ..AlterConfigsResourceResponse::default()
    }
}
