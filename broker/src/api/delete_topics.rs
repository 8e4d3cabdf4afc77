//! DeleteTopics.

use std::rc::Rc;

use protocol::error::ErrorCode;
use protocol::messages::delete_topics_request::DeleteTopicState;
use protocol::messages::delete_topics_response::DeletableTopicResult;
use protocol::messages::{DeleteTopicsRequest, DeleteTopicsResponse};
use protocol::types::{Str, Uuid};

use super::controller;
use crate::metadata::{ControllerReply, ControllerRequest};
use crate::server::{RequestContext, ShardState};

/// The first version that knows TOPIC_DELETION_DISABLED.
const DISABLED_CODE_VERSION: i16 = 3;

/// Answers DeleteTopics 1-6.
pub async fn handle(
    shard: &Rc<ShardState>,
    context: &RequestContext,
    request: DeleteTopicsRequest,
) -> DeleteTopicsResponse {
    let by_name = request.topic_names.iter().map(|name| (Some(name.clone()), Uuid::ZERO));
    let states =
        request.topics.iter().map(|DeleteTopicState { name, topic_id, .. }| (name.clone(), *topic_id));
    let wanted: Vec<_> = by_name.chain(states).collect();
    let mut response = match controller::ask(shard, ControllerRequest::DeleteTopics(request)).await {
        ControllerReply::DeleteTopics(response) => response,
        ControllerReply::Failed(code) => failed(wanted, code),
        _ => failed(wanted, ErrorCode::UNKNOWN_SERVER_ERROR),
    };
    if context.api_version < DISABLED_CODE_VERSION {
        for result in &mut response.responses {
            if result.error_code == ErrorCode::TOPIC_DELETION_DISABLED.code() {
                result.error_code = ErrorCode::INVALID_REQUEST.code();
            }
        }
    }
    response
}

fn failed(wanted: Vec<(Option<Str>, Uuid)>, code: ErrorCode) -> DeleteTopicsResponse {
    let failed = wanted.into_iter().map(|(name, topic_id)| DeletableTopicResult {
        name,
        topic_id,
        error_code: code.code(),
        error_message: Some(Str::from_static(code.message())),
        ..DeletableTopicResult::default()
    });
    DeleteTopicsResponse { responses: failed.collect(), ..DeleteTopicsResponse::default() }
}
