//! Exchanges between real clients and a real Kafka 4.4.0 decode to their last byte and encode to the same bytes.
//!
//! `tests/data/captured.tsv`: client, API key, version, request and response in hex, both without their size.
//! Of every client, key and version that was seen, the smallest and the largest exchange while short.

use bytes::Bytes;
use protocol::api::ApiKey;
use protocol::header::{RequestHeader, ResponseHeader};
use protocol::wire::{Reader, Writer};

use crate::dispatch::recode;
use crate::schema::{Kind, Message};
use crate::schemas;

static ROWS: &str = include_str!("../data/captured.tsv");

struct Row {
    what: String,
    key: ApiKey,
    version: i16,
    request: Bytes,
    response: Bytes,
}

fn rows() -> impl Iterator<Item = Row> {
    ROWS.lines().skip(1).map(|line| {
        let fields: Vec<&str> = line.split('\t').collect();
        let [client, key, version, request, response] = fields[..] else { panic!("{line}") };
        Row {
            what: format!("{client} {key} v{version}"),
            key: ApiKey::from_code(key.parse().unwrap()).unwrap(),
            version: version.parse().unwrap(),
            request: unhex(request),
            response: unhex(response),
        }
    })
}

fn unhex(text: &str) -> Bytes {
    (0..text.len() / 2).map(|i| u8::from_str_radix(&text[2 * i..2 * i + 2], 16).unwrap()).collect()
}

fn schema_of(all: &[Message], kind: Kind, key: ApiKey) -> &Message {
    all.iter().find(|m| m.kind == kind && m.key == Some(key.code())).unwrap()
}

/// Decodes and encodes one body; returns the bytes left over.
fn body(schema: &Message, version: i16, bytes: Bytes, what: &str) -> usize {
    let recoded = recode(schema, version, &bytes).unwrap_or_else(|e| panic!("{what}: {e}\n{bytes:x?}"));
    let again = recoded.bytes.unwrap();
    // A client that writes a tagged field at its default gets it dropped: then the values must be the same.
    if again != bytes.slice(..bytes.len() - recoded.left) {
        assert!(schema.flexible(version), "{what}: other bytes\n{}", recoded.value);
        let meaning = recode(schema, version, &again).unwrap();
        assert_eq!(meaning.value, recoded.value, "{what}");
        assert!(again.len() < bytes.len(), "{what}: other bytes\n{}", recoded.value);
    }
    recoded.left
}

#[test]
fn requests_and_responses() {
    let all = schemas::api();
    let mut rows_seen = 0;
    let mut surplus = 0;
    for row in rows() {
        let (what, version) = (&row.what, row.version);
        let mut r = Reader::new(row.request.clone());
        let header = RequestHeader::decode(&mut r).unwrap_or_else(|e| panic!("{what}: {e}"));
        assert_eq!((header.api_key, header.api_version), (row.key.code(), version), "{what}");
        let mut w = Writer::new();
        header.encode(&mut w).unwrap();
        assert_eq!(w.into_bytes(), row.request.slice(..r.position()), "{what}: header");
        rows_seen += 1;
        if !row.key.valid_versions().unwrap().contains(version) {
            // ApiVersions v45: nothing of the request but its header is read, and the answer has version 0.
            assert_eq!((row.key, version), (ApiKey::ApiVersions, 45), "{what}");
            let left = body(schema_of(&all, Kind::Response, row.key), 0, row.response.slice(4..), what);
            assert_eq!(left, 0, "{what}");
            continue;
        }
        let left =
            body(schema_of(&all, Kind::Request, row.key), version, r.take_rest(), &format!("{what} request"));
        if left > 0 {
            // librdkafka sends 3 bytes more than Metadata v13 has, which Kafka ignores.
            assert_eq!((row.key, version, left), (ApiKey::Metadata, 13, 3), "{what}");
            surplus += 1;
        }
        let mut r = Reader::new(row.response.clone());
        let answer = ResponseHeader::decode(&mut r, row.key.response_header_version(version)).unwrap();
        assert_eq!(answer.correlation_id, header.correlation_id, "{what}");
        let response = r.take_rest();
        assert_eq!(
            body(schema_of(&all, Kind::Response, row.key), version, response, &format!("{what} response")),
            0
        );
    }
    assert!(rows_seen > 800 && surplus == 1, "{rows_seen} rows, {surplus} with surplus bytes");
}
