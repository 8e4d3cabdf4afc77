//! AlterConfigs: all configs of a resource replaced at once. Deprecated in favour of IncrementalAlterConfigs, but still in use.

use std::rc::Rc;

use protocol::error::ErrorCode;
use protocol::messages::alter_configs_request::AlterConfigsResource;
use protocol::messages::alter_configs_response::AlterConfigsResourceResponse;
use protocol::messages::{AlterConfigsRequest, AlterConfigsResponse};
use protocol::types::Str;

use super::{controller, own_broker};
use crate::metadata::{ControllerReply, ControllerRequest};
use crate::server::{RequestContext, ShardState};

/// Answers AlterConfigs 0-2. What was changed is in effect on all shards when the answer leaves.
pub async fn handle(
    shard: &Rc<ShardState>,
    _context: &RequestContext,
    request: AlterConfigsRequest,
) -> AlterConfigsResponse {
    let (mut responses, mut wanted) = (Vec::new(), Vec::new());
    for resource in request.resources {
        match own_broker::refused(shard, resource.resource_type, &resource.resource_name) {
            Some((code, message)) => responses.push(answer(&resource, code, Some(message))),
            None => wanted.push(resource),
        }
    }
    if wanted.is_empty() {
        return AlterConfigsResponse { responses, ..AlterConfigsResponse::default() };
    }
    let asked = AlterConfigsRequest { resources: wanted.clone(), ..request };
    match controller::ask(shard, ControllerRequest::AlterConfigs(asked)).await {
        ControllerReply::AlterConfigs(response) => responses.extend(response.responses),
        reply => {
            let code = reply.failure();
            let message = Some(Str::from_static(code.message()));
            responses.extend(wanted.iter().map(|resource| answer(resource, code, message.clone())));
        }
    }
    AlterConfigsResponse { responses, ..AlterConfigsResponse::default() }
}

fn answer(
    resource: &AlterConfigsResource,
    code: ErrorCode,
    message: Option<Str>,
) -> AlterConfigsResourceResponse {
    AlterConfigsResourceResponse {
        error_code: code.code(),
        error_message: message,
        resource_type: resource.resource_type,
        resource_name: resource.resource_name.clone(),
        ..AlterConfigsResourceResponse::default()
    }
}
