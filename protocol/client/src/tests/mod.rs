//! Tests of the machines: a connection against answers made by hand, a cluster's lookups.

mod cluster;
mod negotiation;
mod pipelining;

use std::time::Duration;

use bytes::Bytes;
use protocol::api::ApiKey;
use protocol::header::{RequestHeader, response_frame};
use protocol::messages::api_versions_response::ApiVersion;
use protocol::messages::{ApiMessage, ApiVersionsResponse};
use protocol::wire::Reader;

use crate::{Connection, ConnectionConfig};

const START: Duration = Duration::from_secs(100);

fn config() -> ConnectionConfig {
    ConnectionConfig {
        request_timeout: Duration::from_secs(5),
        in_flight_max: 3,
        ..ConnectionConfig::default()
    }
}

/// Takes what the machine sends and returns the header of each frame.
fn sent(connection: &mut Connection) -> Vec<RequestHeader> {
    let mut bytes = Vec::new();
    while let Some(piece) = connection.poll_transmit() {
        bytes.extend_from_slice(&piece);
    }
    let mut r = Reader::new(bytes.into());
    let mut headers = Vec::new();
    while r.remaining() > 0 {
        let len = r.i32().unwrap() as usize;
        let mut frame = Reader::new(r.take(len).unwrap());
        headers.push(RequestHeader::decode(&mut frame).unwrap());
    }
    headers
}

fn answer<M: ApiMessage>(correlation_id: i32, message: &M, version: i16) -> Bytes {
    response_frame(correlation_id, message, version).unwrap().into_bytes()
}

fn knows(apis: &[(ApiKey, i16, i16)]) -> ApiVersionsResponse {
    let one = |&(api, min_version, max_version): &(ApiKey, i16, i16)| ApiVersion {
        api_key: api.code(),
        min_version,
        max_version,
        ..Default::default()
    };
    ApiVersionsResponse { api_keys: apis.iter().map(one).collect(), ..Default::default() }
}

/// A connection past its negotiation; its next correlation id is 1.
fn ready() -> Connection {
    let mut connection = Connection::new(config(), START);
    assert_eq!(sent(&mut connection).len(), 1);
    let versions = knows(&[(ApiKey::Metadata, 0, 12), (ApiKey::ApiVersions, 0, 4), (ApiKey::Produce, 0, 12)]);
    connection.handle_bytes(START, &answer(0, &versions, 3)).unwrap();
    assert!(connection.versions().is_some());
    connection
}
