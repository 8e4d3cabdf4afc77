//! Text forms, comparison, sharing.

use std::collections::BTreeMap;

use bytes::Bytes;

use super::*;

#[test]
fn uuids_print_as_kafkas() {
    assert_eq!(Uuid::ZERO.to_string(), "AAAAAAAAAAAAAAAAAAAAAA");
    assert_eq!(Uuid([0xff; 16]).to_string(), "_____________________w");
    // Kafka's reserved metadata topic id.
    let mut one = [0; 16];
    one[15] = 1;
    assert_eq!(Uuid(one).to_string(), "AAAAAAAAAAAAAAAAAAAAAQ");
    for id in [Uuid(one), Uuid(*b"0123456789abcdef"), Uuid([0xff; 16])] {
        assert_eq!(id.to_string().parse(), Ok(id));
    }
}

#[test]
fn text_that_is_no_uuid() {
    for text in
        ["", "AAAA", "AAAAAAAAAAAAAAAAAAAAA=", "AAAAAAAAAAAAAAAAAAAAAAA", "AAAAAAAAAAAAAAAAAAAA\u{e9}"]
    {
        assert!(text.parse::<Uuid>().is_err(), "{text}");
    }
}

#[test]
fn a_random_uuid_has_version_and_variant() {
    let Uuid(bytes) = Uuid::from_random([0xff; 16]);
    assert_eq!((bytes[6], bytes[8]), (0x4f, 0xbf));
}

#[test]
fn str_is_a_str() {
    let text = Str::from("t\u{e9}");
    assert_eq!(text, "t\u{e9}");
    assert_eq!(format!("{text} {text:?}"), "t\u{e9} \"t\u{e9}\"");
    let (a, b) = (Str::from("a"), Str::from("b"));
    assert!(a < b);
    // A map keyed by `Str` is asked with `&str`.
    assert_eq!(BTreeMap::from([(text.clone(), 1)]).get("t\u{e9}"), Some(&1));
    assert!(Str::from_utf8(Bytes::from_static(b"\xff")).is_err());
    assert_eq!(Str::from_static("x"), Str::from(String::from("x")));
}

#[test]
fn a_detached_str_has_its_own_buffer() {
    let text = Str::from("topic");
    assert_eq!(text.detached(), text);
    assert_ne!(text.detached().as_bytes().as_ptr(), text.as_bytes().as_ptr());
    assert_eq!(text.clone().as_bytes().as_ptr(), text.as_bytes().as_ptr());
}

#[test]
fn records_are_equal_by_bytes() {
    let cut = Records::from(vec![Bytes::from_static(b"ab"), Bytes::new(), Bytes::from_static(b"c")]);
    let whole = Records::from(Bytes::from_static(b"abc"));
    assert_eq!(cut, whole);
    assert_ne!(cut, Records::from(Bytes::from_static(b"abd")));
    assert_eq!((cut.len(), cut.pieces().len(), cut.to_bytes()), (3, 2, Bytes::from_static(b"abc")));
    assert!(Records::default().to_bytes().is_empty());
}
