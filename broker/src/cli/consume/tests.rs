//! Tests of where consuming starts and how records are printed.

use bytes::Bytes;
use protocol::records::{Record, RecordHeader};

use super::format::Format;
use super::start::From;

fn record() -> Record {
    let header = |key: &'static str, value| RecordHeader { key: Bytes::from_static(key.as_bytes()), value };
    Record {
        attributes: 0,
        timestamp: 5,
        offset: 7,
        key: Some(Bytes::from_static(b"k")),
        value: Some(Bytes::from_static(&[0xff, b'v'])),
        headers: vec![header("h", Some(Bytes::from_static(b"1"))), header("h", None)],
    }
}

fn printed(format: &Format, record: &Record) -> Vec<u8> {
    let mut out = Vec::new();
    format.write("topic", 3, record, &mut out).unwrap();
    out
}

#[test]
fn starts_are_words_offsets_or_times() {
    assert_eq!("beginning".parse(), Ok(From::Beginning));
    assert_eq!("end".parse(), Ok(From::End));
    assert_eq!("17".parse(), Ok(From::Offset(17)));
    assert_eq!("@1700000000000".parse(), Ok(From::Time(1_700_000_000_000)));
    assert_eq!("@2026-11-30T15:30:00+02:00".parse(), Ok(From::Time(1_796_045_400_000)));
    for bad in ["", "-1", "@", "@x", "99999999999999999999"] {
        assert!(bad.parse::<From>().is_err(), "{bad}");
    }
}

#[test]
fn a_format_prints_bytes_as_they_are() {
    let format: Format = "%t-%p@%o %T %k=%v [%h] 100%%\\t\\n".parse().unwrap();
    assert_eq!(printed(&format, &record()), b"topic-3@7 5 k=\xffv [h=1,h=NULL] 100%\t\n");
    let lengths: Format = "%K %S %s".parse().unwrap();
    assert_eq!(printed(&lengths, &record()), b"1 2 \xffv");
    assert_eq!(printed(&lengths, &Record { key: None, value: None, ..record() }), b"-1 -1 ");
    assert!("%".parse::<Format>().is_err() && "\\q".parse::<Format>().is_err());
}

#[test]
fn json_tells_text_from_other_bytes() {
    let line = printed(&Format::json(), &record());
    let json: serde_json::Value = serde_json::from_slice(&line).unwrap();
    assert_eq!(json["key"], "k");
    assert_eq!(json["value"]["hex"], "ff76");
    assert_eq!(json["headers"][1], serde_json::json!(["h", null]));
}
