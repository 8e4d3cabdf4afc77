//! Finding out what the broker speaks.

use std::time::Duration;

use protocol::api::ApiKey;
use protocol::error::ErrorCode;
use protocol::messages::{ApiVersionsResponse, FetchRequest, MetadataRequest, ProduceRequest, VersionRange};

use super::{START, answer, config, knows, ready, sent};
use crate::{Connection, ConnectionError, SendError};

#[test]
fn versions_are_asked_first_and_the_best_common_one_is_chosen() {
    let mut connection = Connection::new(config(), START);
    let early = connection.send(START, &MetadataRequest::default(), 1, Duration::ZERO);
    assert_eq!(early, Err(SendError::NotReady));
    let first = &sent(&mut connection)[0];
    assert_eq!((first.api_key, first.api_version, first.correlation_id), (ApiKey::ApiVersions.code(), 3, 0));
    let versions = knows(&[(ApiKey::Metadata, 0, 9), (ApiKey::Fetch, 19, 20)]);
    connection.handle_bytes(START, &answer(0, &versions, 3)).unwrap();
    let versions = connection.versions().unwrap();
    assert_eq!(versions.choose::<MetadataRequest>(12), Ok(9));
    assert_eq!(versions.choose::<MetadataRequest>(4), Ok(4));
    let newer = Some(VersionRange::new(19, 20));
    assert_eq!(
        versions.choose::<FetchRequest>(99),
        Err(SendError::Unsupported { api: ApiKey::Fetch, broker: newer })
    );
    let unknown = Err(SendError::Unsupported { api: ApiKey::Produce, broker: None });
    assert_eq!(versions.choose::<ProduceRequest>(99), unknown);
    assert!(connection.poll_answer().is_none(), "the negotiation's answer is the machine's own");
}

/// KIP-511: a broker that doesn't know the version answers in version 0 with what it knows.
#[test]
fn an_older_broker_is_asked_again_in_its_version() {
    let mut connection = Connection::new(config(), START);
    sent(&mut connection);
    let refusal = ApiVersionsResponse {
        error_code: ErrorCode::UNSUPPORTED_VERSION.code(),
        ..knows(&[(ApiKey::ApiVersions, 0, 2)])
    };
    connection.handle_bytes(START, &answer(0, &refusal, 0)).unwrap();
    assert!(connection.versions().is_none());
    let second = &sent(&mut connection)[0];
    assert_eq!((second.api_version, second.correlation_id), (2, 1));
    connection.handle_bytes(START, &answer(1, &knows(&[(ApiKey::Metadata, 0, 5)]), 2)).unwrap();
    assert_eq!(connection.versions().unwrap().choose::<MetadataRequest>(99), Ok(5));
}

#[test]
fn a_broker_that_names_nothing_is_asked_in_version_0_once() {
    let mut connection = Connection::new(config(), START);
    sent(&mut connection);
    let refusal =
        ApiVersionsResponse { error_code: ErrorCode::UNSUPPORTED_VERSION.code(), ..Default::default() };
    connection.handle_bytes(START, &answer(0, &refusal, 0)).unwrap();
    assert_eq!(sent(&mut connection)[0].api_version, 0);
    let refused = connection.handle_bytes(START, &answer(1, &refusal, 0));
    assert_eq!(refused, Err(ConnectionError::Refused(ErrorCode::UNSUPPORTED_VERSION)));
    assert_eq!(connection.handle_bytes(START, b""), refused, "and stays over");
}

#[test]
fn a_key_of_a_later_kafka_does_no_harm() {
    let mut connection = Connection::new(config(), START);
    let mut versions = knows(&[(ApiKey::Metadata, 0, 5)]);
    versions.api_keys[0].api_key = 1234;
    connection.handle_bytes(START, &answer(0, &versions, 3)).unwrap();
    assert!(connection.versions().is_some());
}

#[test]
fn a_silent_broker_times_out() {
    let mut connection = Connection::new(config(), START);
    assert_eq!(connection.poll_timeout(), Some(START + Duration::from_secs(5)));
    let overdue = connection.handle_timeout(START + Duration::from_secs(5));
    assert_eq!(overdue, Err(ConnectionError::TimedOut { api: ApiKey::ApiVersions }));
}

#[test]
fn the_software_is_named_as_kafka_wants_it() {
    // Otherwise brokers answer INVALID_REQUEST: [a-zA-Z0-9](?:[a-zA-Z0-9\-.]*[a-zA-Z0-9])?
    let config = crate::ConnectionConfig::default();
    for name in [config.software_name, config.software_version] {
        assert!(
            name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'.'),
            "{name}"
        );
        assert!(!name.is_empty());
    }
    assert!(ready().poll_timeout().is_none());
}
