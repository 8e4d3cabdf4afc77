//! The way to the controller.

use std::rc::Rc;

use protocol::error::ErrorCode;
use protocol::messages::{CreateTopicsRequest, CreateTopicsResponse};
use rt::ShardId;

use crate::metadata::{ControllerReply, ControllerRequest};
use crate::server::{Answer, Piece, ShardState};

/// The shard on which the controller lives, and which hands out producer ids.
pub(super) const FIRST_SHARD: ShardId = ShardId(0);

/// Asks the controller. What it did is in effect on all shards when the answer is here.
pub(super) async fn ask(shard: &Rc<ShardState>, request: ControllerRequest) -> ControllerReply {
    match shard.call(FIRST_SHARD, Piece::Controller(request)).await {
        Answer::Controller(reply) => *reply,
        _ => ControllerReply::Failed(ErrorCode::NOT_CONTROLLER),
    }
}

/// Creates topics.
///
/// # Errors
/// The request as a whole failed; whether topics were created isn't known.
pub(super) async fn create_topics(
    shard: &Rc<ShardState>,
    request: CreateTopicsRequest,
) -> Result<CreateTopicsResponse, ErrorCode> {
    match ask(shard, ControllerRequest::CreateTopics(request)).await {
        ControllerReply::CreateTopics(response) => Ok(response),
        ControllerReply::Failed(code) => Err(code),
        _ => Err(ErrorCode::UNKNOWN_SERVER_ERROR),
    }
}
