//! Tests of what lines become.

use super::NewRecord;
use super::json::record;
use super::pace::Pace;

#[test]
fn json_lines_are_what_consume_prints() {
    let line = br#"{"headers":[["h","1"],["h",null],[{"hex":"ff"},{"hex":"00"}]],"key":null,"offset":7,"partition":3,"timestamp":5,"topic":"t","value":{"hex":"ff76"}}"#;
    let wanted = NewRecord {
        key: None,
        value: Some(vec![0xff, b'v']),
        headers: vec![
            (b"h".to_vec(), Some(b"1".to_vec())),
            (b"h".to_vec(), None),
            (vec![0xff], Some(vec![0])),
        ],
        timestamp_ms: Some(5),
        partition: Some(3),
    };
    assert_eq!(record(line), Ok(wanted));
    let small = record(br#"{"value":"v"}"#).unwrap();
    assert_eq!(small, NewRecord { value: Some(b"v".to_vec()), ..NewRecord::default() });
    assert_eq!(record(br#"{"key":"k","value":null}"#).unwrap().value, None);
    let without = record(br#"{"value":"v","timestamp":-1}"#).unwrap();
    assert_eq!(without.timestamp_ms, Some(-1), "as consume prints a record without a timestamp");
}

#[test]
fn json_that_is_no_record_is_told() {
    for (line, why) in [
        ("{", "isn't JSON"),
        ("[]", "isn't a JSON object"),
        ("{}", "no \"value\""),
        (r#"{"value":1}"#, "\"value\" must be a string"),
        (r#"{"value":{"hex":"f"}}"#, "isn't hexadecimal"),
        (r#"{"value":{"hex":"fg"}}"#, "isn't hexadecimal"),
        (r#"{"value":{"hex":"00","more":1}}"#, "must be a string"),
        (r#"{"value":"","headers":{}}"#, "list of [key, value]"),
        (r#"{"value":"","headers":[["k"]]}"#, "list of [key, value]"),
        (r#"{"value":"","headers":[[null,"v"]]}"#, "can't be null"),
        (r#"{"value":"","timestamp":-2}"#, "\"timestamp\" is no number"),
        (r#"{"value":"","partition":3000000000}"#, "can't be"),
    ] {
        let fault = record(line.as_bytes()).unwrap_err();
        assert!(fault.contains(why), "{line}: {fault}");
    }
}

#[test]
fn a_pace_holds_up_who_is_early() {
    let mut pace = Pace::new(0.1);
    assert_eq!(pace.next(), None, "the first goes at once");
    let early = pace.next().unwrap();
    assert!(early.as_secs_f64() <= 10.0, "the second is due 10 s later: {early:?}");
    let later = pace.next().unwrap();
    assert!(later > early && later.as_secs_f64() <= 20.0, "the third 20 s later: {later:?}");
    let mut fast = Pace::new(1e9);
    assert!((0..1_000).all(|_| fast.next().is_none()), "who is late isn't held up");
}
