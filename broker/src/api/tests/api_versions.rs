//! What ApiVersions answers.

use protocol::api::ApiKey;
use protocol::error::ErrorCode;
use protocol::messages::{ApiVersionsRequest, ApiVersionsResponse};
use protocol::types::Str;

use crate::api::api_versions::{Node, answer, unsupported};
use crate::metadata::Image;

const SERVED: [ApiKey; 3] = [ApiKey::Metadata, ApiKey::Produce, ApiKey::InitProducerId];

fn request() -> ApiVersionsRequest {
    ApiVersionsRequest {
        client_software_name: Str::from_static("apache-kafka-java"),
        client_software_version: Str::from_static("4.4.0"),
        ..ApiVersionsRequest::default()
    }
}

fn ask(version: i16, request: &ApiVersionsRequest) -> ApiVersionsResponse {
    let image = Image::empty(Str::from_static("abc"));
    answer(&SERVED, version, request, Node { id: 7, cluster_id: "abc" }, &image)
}

fn code(version: i16, request: &ApiVersionsRequest) -> ErrorCode {
    ErrorCode::from_code(ask(version, request).error_code)
}

#[test]
fn served_keys_come_sorted_with_the_ranges_kafka_names() {
    let keys = ask(4, &request()).api_keys;
    let keys: Vec<_> = keys.iter().map(|api| (api.api_key, api.min_version, api.max_version)).collect();
    assert_eq!(keys, [(0, 0, 13), (3, 0, 13), (22, 0, 5)]);
}

#[test]
fn features_with_a_minimum_of_0_are_hidden_before_version_4() {
    let names = |version| -> Vec<String> {
        let supported = ask(version, &request()).supported_features;
        supported.iter().map(|feature| feature.name.to_string()).collect()
    };
    assert_eq!(names(3), ["metadata.version"]);
    assert_eq!(names(4).len(), 7);
    let finalized = ask(3, &request()).finalized_features;
    let finalized: Vec<_> = finalized.iter().map(|f| (f.name.as_str(), f.max_version_level)).collect();
    assert_eq!(finalized, [("metadata.version", 33)]);
}

#[test]
fn software_names_are_checked_from_version_3_on() {
    for bad in ["", "-a", "a.", "a b", "ä"] {
        let request = ApiVersionsRequest { client_software_name: Str::from(bad), ..request() };
        assert_eq!(code(2, &request), ErrorCode::NONE, "{bad:?}");
        assert_eq!(code(3, &request), ErrorCode::INVALID_REQUEST, "{bad:?}");
    }
    assert_eq!(code(3, &request()), ErrorCode::NONE);
}

#[test]
fn a_client_that_wants_another_node_is_told_to_bootstrap_again() {
    let of = |cluster: Option<&str>, node_id| ApiVersionsRequest {
        cluster_id: cluster.map(Str::from),
        node_id,
        ..request()
    };
    assert_eq!(code(5, &of(Some("abc"), 7)), ErrorCode::NONE);
    assert_eq!(code(5, &of(None, -1)), ErrorCode::NONE);
    assert_eq!(code(5, &of(Some("abc"), 8)), ErrorCode::REBOOTSTRAP_REQUIRED);
    assert_eq!(code(5, &of(Some("xyz"), 7)), ErrorCode::REBOOTSTRAP_REQUIRED);
    assert_eq!(code(5, &of(None, 7)), ErrorCode::INVALID_REQUEST);
    assert_eq!(code(5, &of(Some("abc"), -1)), ErrorCode::INVALID_REQUEST);
}

#[test]
fn an_unknown_version_is_told_the_range_of_api_versions() {
    let response = unsupported();
    let keys: Vec<_> =
        response.api_keys.iter().map(|api| (api.api_key, api.min_version, api.max_version)).collect();
    assert_eq!((response.error_code, keys), (35, vec![(18, 0, 5)]));
}
