//! ApiVersions: which versions and features there are (KIP-511, KIP-584, KIP-1242).

use std::rc::Rc;

use protocol::api::ApiKey;
use protocol::error::ErrorCode;
use protocol::messages::api_versions_response::{ApiVersion, FinalizedFeatureKey, SupportedFeatureKey};
use protocol::messages::{ApiVersionsRequest, ApiVersionsResponse};
use protocol::types::Str;

use crate::metadata::Image;
use crate::metadata::features::{METADATA_FEATURE, SUPPORTED};
use crate::metadata::limits::METADATA_VERSION;
use crate::server::dispatch::SERVED;
use crate::server::{RequestContext, ShardState};

/// Answers ApiVersions 0-5.
pub async fn handle(
    shard: &Rc<ShardState>,
    context: &RequestContext,
    request: ApiVersionsRequest,
) -> ApiVersionsResponse {
    let image = shard.image.borrow();
    let node = Node { id: shard.node.config.node_id, cluster_id: &shard.node.cluster_id };
    answer(&SERVED, context.api_version, &request, node, &image)
}

/// The answer to a version that isn't known, to be written as version 0: the versions of ApiVersions itself.
pub fn unsupported() -> ApiVersionsResponse {
    ApiVersionsResponse {
        error_code: ErrorCode::UNSUPPORTED_VERSION.code(),
        api_keys: vec![version_range(ApiKey::ApiVersions)],
        ..ApiVersionsResponse::default()
    }
}

/// Whom the client has reached.
#[derive(Debug, Clone, Copy)]
pub(super) struct Node<'a> {
    pub(super) id: i32,
    pub(super) cluster_id: &'a str,
}

/// The answer, if `served` are the APIs.
pub(super) fn answer(
    served: &[ApiKey],
    version: i16,
    request: &ApiVersionsRequest,
    node: Node<'_>,
    image: &Image,
) -> ApiVersionsResponse {
    if let Err(code) = check(version, request, node) {
        return ApiVersionsResponse { error_code: code.code(), ..ApiVersionsResponse::default() };
    }
    let mut api_keys: Vec<ApiVersion> = served.iter().map(|key| version_range(*key)).collect();
    api_keys.sort_by_key(|api| api.api_key);
    let supported = SUPPORTED.iter().map(|feature| supported(feature.name, feature.min, feature.max));
    ApiVersionsResponse {
        api_keys,
        // Clients before version 4 take a minimum of 0 for damage (KAFKA-17011).
        supported_features: supported.filter(|feature| version >= 4 || feature.min_version > 0).collect(),
        finalized_features_epoch: image.offset,
        finalized_features: finalized(image),
        ..ApiVersionsResponse::default()
    }
}

fn check(version: i16, request: &ApiVersionsRequest, node: Node<'_>) -> Result<(), ErrorCode> {
    let names_ok =
        is_software(&request.client_software_name) && is_software(&request.client_software_version);
    if version >= 3 && !names_ok {
        return Err(ErrorCode::INVALID_REQUEST);
    }
    if version < 5 {
        return Ok(());
    }
    match (&request.cluster_id, request.node_id) {
        (None, -1) => Ok(()),
        (None, _) | (Some(_), -1) => Err(ErrorCode::INVALID_REQUEST),
        (Some(cluster), id) if *cluster == *node.cluster_id && id == node.id => Ok(()),
        // The address was given to another node meanwhile (KIP-1242).
        _ => Err(ErrorCode::REBOOTSTRAP_REQUIRED),
    }
}

/// Letters and digits, with dots and dashes in between.
fn is_software(text: &str) -> bool {
    let is_inner = |b: u8| b.is_ascii_alphanumeric() || b == b'-' || b == b'.';
    let is_end = |b: Option<&u8>| b.is_some_and(u8::is_ascii_alphanumeric);
    let bytes = text.as_bytes();
    is_end(bytes.first()) && is_end(bytes.last()) && bytes.iter().all(|b| is_inner(*b))
}

fn version_range(key: ApiKey) -> ApiVersion {
    // What isn't advertised by Kafka has no range; nothing such is served.
    let (min, max) = key.info().advertised.map_or((0, -1), |range| (range.min, range.max));
    ApiVersion { api_key: key.code(), min_version: min, max_version: max, ..ApiVersion::default() }
}

fn supported(name: &'static str, min_version: i16, max_version: i16) -> SupportedFeatureKey {
    SupportedFeatureKey { name: Str::from_static(name), min_version, max_version, ..Default::default() }
}

fn finalized(image: &Image) -> Vec<FinalizedFeatureKey> {
    let level = |name: Str, level: i16| FinalizedFeatureKey {
        name,
        max_version_level: level,
        min_version_level: level,
        ..FinalizedFeatureKey::default()
    };
    let mut features: Vec<_> = image.features().map(|(name, at)| level(name.clone(), at)).collect();
    if image.feature(METADATA_FEATURE) == 0 {
        features.push(level(Str::from_static(METADATA_FEATURE), METADATA_VERSION));
    }
    features
}
