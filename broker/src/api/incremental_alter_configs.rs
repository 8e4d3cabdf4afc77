//! IncrementalAlterConfigs: single configs set, unset, and changed as lists (KIP-339).

use std::rc::Rc;

use protocol::error::ErrorCode;
use protocol::messages::incremental_alter_configs_request::AlterConfigsResource;
use protocol::messages::incremental_alter_configs_response::AlterConfigsResourceResponse;
use protocol::messages::{IncrementalAlterConfigsRequest, IncrementalAlterConfigsResponse};
use protocol::types::Str;

use super::altered::{self, Refusal};
use super::{controller, own_broker};
use crate::metadata::image::RESOURCE_BROKER_LOGGER;
use crate::metadata::{ControllerReply, ControllerRequest};
use crate::server::{RequestContext, ShardState};

/// Answers IncrementalAlterConfigs 0-1. What was changed is in effect on all shards when the answer leaves.
pub async fn handle(
    shard: &Rc<ShardState>,
    _context: &RequestContext,
    request: IncrementalAlterConfigsRequest,
) -> IncrementalAlterConfigsResponse {
    let IncrementalAlterConfigsRequest { resources, validate_only, unknown_tags } = request;
    let refused = |resource: &AlterConfigsResource| refused(shard, resource);
    let ask = async |resources| {
        let asked = IncrementalAlterConfigsRequest { resources, validate_only, unknown_tags };
        match controller::ask(shard, ControllerRequest::IncrementalAlterConfigs(asked)).await {
            ControllerReply::IncrementalAlterConfigs(response) => Ok(response.responses),
            reply => Err(reply.failure()),
        }
    };
    let responses = altered::alter(resources, refused, ask, answer).await;
    IncrementalAlterConfigsResponse { responses, ..IncrementalAlterConfigsResponse::default() }
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

/// Why it isn't the controller's to decide, with the code for it.
fn refused(shard: &Rc<ShardState>, resource: &AlterConfigsResource) -> Option<(ErrorCode, Str)> {
    if resource.resource_type != RESOURCE_BROKER_LOGGER {
        return own_broker::refused(shard, resource.resource_type, &resource.resource_name);
    }
    let own = shard.node.config.node_id;
    if resource.resource_name.parse() != Ok(own) {
        let text = format!("Unexpected node id. Expected {own}, but received {}", resource.resource_name);
        return Some((ErrorCode::INVALID_REQUEST, Str::from(text)));
    }
    // The loggers that Kafka means are its own Java classes.
    let logger = resource.configs.first().map_or("", |config| config.name.as_str());
    Some((ErrorCode::INVALID_CONFIG, Str::from(format!("Logger {logger} does not exist!"))))
}
