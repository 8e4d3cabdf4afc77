//! UpdateFeatures (KIP-584, KIP-778).

use std::rc::Rc;

use protocol::messages::{UpdateFeaturesRequest, UpdateFeaturesResponse};
use protocol::types::Str;

use super::controller;
use crate::metadata::{ControllerReply, ControllerRequest};
use crate::server::{RequestContext, ShardState};

/// Kafka's number of a downgrade that loses nothing.
const SAFE_DOWNGRADE: i8 = 2;

/// Answers UpdateFeatures 0-2.
pub async fn handle(
    shard: &Rc<ShardState>,
    context: &RequestContext,
    mut request: UpdateFeaturesRequest,
) -> UpdateFeaturesResponse {
    if context.api_version == 0 {
        for update in request.feature_updates.iter_mut().filter(|update| update.allow_downgrade) {
            update.upgrade_type = SAFE_DOWNGRADE;
        }
    }
    match controller::ask(shard, ControllerRequest::UpdateFeatures(request)).await {
        ControllerReply::UpdateFeatures(response) => response,
        reply => {
            let code = reply.failure();
            UpdateFeaturesResponse {
                error_code: code.code(),
                error_message: Some(Str::from_static(code.message())),
                ..UpdateFeaturesResponse::default()
            }
        }
    }
}
