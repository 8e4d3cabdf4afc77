//! Headers by hand-made bytes, and whole frames.

use bytes::Bytes;

use super::*;
use crate::api::ApiKey;
use crate::messages::{ApiVersionsRequest, MetadataRequest, MetadataResponse};
use crate::wire::{DecodeError, Reader, Writer};

fn recoded(bytes: &'static [u8]) -> RequestHeader {
    let mut r = Reader::new(Bytes::from_static(bytes));
    let header = RequestHeader::decode(&mut r).unwrap();
    assert_eq!(r.remaining(), 0);
    let mut w = Writer::new();
    header.encode(&mut w).unwrap();
    assert_eq!(w.into_bytes(), bytes);
    header
}

#[test]
fn a_classic_header() {
    let header = recoded(b"\0\x03\0\x01\0\0\0\x07\0\x02me");
    assert_eq!((header.api_key, header.api_version, header.correlation_id), (3, 1, 7));
    assert_eq!(header.client_id, Some("me".into()));
}

#[test]
fn a_flexible_header_keeps_the_short_client_id_and_its_tags() {
    let header = recoded(b"\0\x03\0\x09\0\0\0\x07\0\x02me\x01\x05\x01x");
    assert_eq!(header.client_id, Some("me".into()));
    assert_eq!(header.unknown_tags.iter().count(), 1);
}

#[test]
fn a_client_id_may_be_null() {
    assert_eq!(recoded(b"\0\x03\0\x01\0\0\0\x07\xff\xff").client_id, None);
    assert_eq!(recoded(b"\0\x03\0\x09\0\0\0\x07\xff\xff\0").client_id, None);
}

#[test]
fn an_unknown_key_is_refused_and_can_still_be_told() {
    let bytes = Bytes::from_static(b"\0\x63\0\x01\0\0\0\x07\xff\xff");
    let mut r = Reader::new(bytes);
    assert_eq!(RequestHeader::peek(&r).unwrap().api_key, 0x63);
    assert_eq!(RequestHeader::decode(&mut r), Err(DecodeError::Unknown { what: "API key", value: 0x63 }));
    assert!(RequestHeader::peek(&Reader::new(Bytes::from_static(b"\0\x03\0"))).is_err());
}

#[test]
fn an_unknown_version_of_api_versions_has_a_flexible_header() {
    let header = recoded(b"\0\x12\0\x63\0\0\0\x01\0\0\0");
    assert_eq!((header.api_key, header.api_version), (18, 99));
}

#[test]
fn response_headers() {
    for (version, bytes) in [(0, &b"\0\0\0\x07"[..]), (1, b"\0\0\0\x07\x01\x02\0")] {
        let mut r = Reader::new(Bytes::copy_from_slice(bytes));
        let header = ResponseHeader::decode(&mut r, version).unwrap();
        assert_eq!(header.correlation_id, 7);
        let mut w = Writer::new();
        header.encode(&mut w, version).unwrap();
        assert_eq!(w.into_bytes(), bytes);
    }
}

#[test]
fn frames_start_with_the_size_of_the_rest() {
    let request = request_frame(5, Some("me".into()), &MetadataRequest::default(), 1).unwrap().into_bytes();
    assert_eq!(request, &b"\0\0\0\x10\0\x03\0\x01\0\0\0\x05\0\x02me\0\0\0\0"[..]);
    let response = response_frame(5, &MetadataResponse::default(), 0).unwrap().into_bytes();
    assert_eq!(response, &b"\0\0\0\x0c\0\0\0\x05\0\0\0\0\0\0\0\0"[..]);
    let flexible = request_frame(1, None, &ApiVersionsRequest::default(), 3).unwrap().into_bytes();
    assert_eq!(flexible, &b"\0\0\0\x0e\0\x12\0\x03\0\0\0\x01\xff\xff\0\x01\x01\0"[..]);
    assert_eq!(ApiKey::ApiVersions.code(), 18);
}
