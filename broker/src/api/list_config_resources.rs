//! ListConfigResources: what has configs (KIP-1000, KIP-1142).

use std::rc::Rc;

use protocol::error::ErrorCode;
use protocol::messages::list_config_resources_response::ConfigResource;
use protocol::messages::{ListConfigResourcesRequest, ListConfigResourcesResponse};
use protocol::types::Str;

use crate::metadata::Image;
use crate::metadata::image::{
    RESOURCE_BROKER, RESOURCE_BROKER_LOGGER, RESOURCE_CLIENT_METRICS, RESOURCE_GROUP, RESOURCE_TOPIC,
};
use crate::server::{RequestContext, ShardState};

/// The types that can be listed, in the order of answers.
const ALL: [i8; 5] =
    [RESOURCE_GROUP, RESOURCE_CLIENT_METRICS, RESOURCE_BROKER_LOGGER, RESOURCE_BROKER, RESOURCE_TOPIC];

/// Answers ListConfigResources 0-1. Version 0 lists the client metrics subscriptions only.
pub async fn handle(
    shard: &Rc<ShardState>,
    context: &RequestContext,
    request: ListConfigResourcesRequest,
) -> ListConfigResourcesResponse {
    let wanted = match context.api_version {
        0 => vec![RESOURCE_CLIENT_METRICS],
        _ => request.resource_types,
    };
    if wanted.iter().any(|kind| !ALL.contains(kind)) {
        let error_code = ErrorCode::UNSUPPORTED_VERSION.code();
        return ListConfigResourcesResponse { error_code, ..ListConfigResourcesResponse::default() };
    }
    let image = shard.image.borrow();
    let kinds = ALL.into_iter().filter(|kind| wanted.is_empty() || wanted.contains(kind));
    let config_resources = kinds.flat_map(|kind| {
        let named = names(&image, kind).into_iter();
        named.map(move |name| ConfigResource {
            resource_name: name,
            resource_type: kind,
            ..Default::default()
        })
    });
    ListConfigResourcesResponse {
        config_resources: config_resources.collect(),
        ..ListConfigResourcesResponse::default()
    }
}

/// Topics and brokers always have configs; others are there while something is set on them.
fn names(image: &Image, kind: i8) -> Vec<Str> {
    match kind {
        RESOURCE_TOPIC => image.topics().map(|topic| topic.name.clone()).collect(),
        RESOURCE_BROKER | RESOURCE_BROKER_LOGGER => {
            image.brokers.keys().map(|id| Str::from(id.to_string())).collect()
        }
        other => image.configured(other).cloned().collect(),
    }
}
