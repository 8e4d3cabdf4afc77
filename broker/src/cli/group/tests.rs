//! Tests of what resetting offsets decides, and of the texts it takes and gives.

use clap::Parser;

use super::reset_offsets::{Note, Range, ResetTarget as Target, Rows, next_offset};
use super::topics::TopicArg;
use crate::cli::Cli;
use crate::cli::offsets::refused;

const RANGE: Range = Range { start: 10, end: 50 };

fn next(target: &Target, current: Option<i64>) -> Option<(i64, Option<Note>)> {
    next_offset(target, RANGE, current, None, None)
}

#[test]
fn plain_targets_are_ends_of_the_range() {
    for current in [None, Some(20), Some(99)] {
        assert_eq!(next(&Target::Earliest, current), Some((10, None)));
        assert_eq!(next(&Target::Latest, current), Some((50, None)));
    }
}

#[test]
fn what_lies_outside_is_brought_inside_and_told() {
    for (offset, wanted) in [
        (9, (10, Some(Note::BelowStart(9)))),
        (10, (10, None)),
        (50, (50, None)),
        (51, (50, Some(Note::AboveEnd(51)))),
    ] {
        assert_eq!(next(&Target::Offset(offset), Some(20)), Some(wanted));
        assert_eq!(next(&Target::Current, Some(offset)), Some(wanted));
        assert_eq!(
            next_offset(&Target::File(Rows::default()), RANGE, None, None, Some(offset)),
            Some(wanted)
        );
    }
}

#[test]
fn shifts_start_from_what_is_committed() {
    assert_eq!(next(&Target::ShiftBy(-5), Some(20)), Some((15, None)));
    assert_eq!(next(&Target::ShiftBy(-15), Some(20)), Some((10, Some(Note::BelowStart(5)))));
    assert_eq!(next(&Target::ShiftBy(i64::MAX), Some(20)), Some((50, Some(Note::AboveEnd(i64::MAX)))));
    assert_eq!(next(&Target::ShiftBy(1), None), None);
}

#[test]
fn where_nothing_is_found_it_is_the_end() {
    assert_eq!(next(&Target::Current, None), Some((50, Some(Note::NothingCommitted))));
    assert_eq!(next(&Target::Time(1), Some(20)), Some((50, Some(Note::NothingSoYoung))));
    assert_eq!(next_offset(&Target::Time(1), RANGE, None, Some(33), None), Some((33, None)));
}

#[test]
fn topics_may_name_partitions() {
    let arg =
        |topic: &str, partitions: &[i32]| Ok(TopicArg { topic: topic.into(), partitions: partitions.into() });
    assert_eq!("a.b-c".parse(), arg("a.b-c", &[]));
    assert_eq!("t:2,0,2".parse(), arg("t", &[0, 2]));
    for bad in ["", ":1", "t:", "t:-1", "t:x", "t:1,"] {
        assert!(bad.parse::<TopicArg>().is_err(), "{bad}");
    }
}

#[test]
fn csv_is_read_in_both_forms() {
    let rows = Rows::parse("t,0,5\n\n\"t\",1,6\r\n", Some("g")).unwrap();
    let offsets: Vec<_> = rows.of("g").into_iter().collect();
    assert_eq!(offsets, [(("t".into(), 0), 5), (("t".into(), 1), 6)]);
    let rows = Rows::parse("\"a,\"\"b\",t,0,5\nother,t,0,7\n", None).unwrap();
    assert_eq!(rows.of("a,\"b").into_values().collect::<Vec<_>>(), [5]);
    assert_eq!(rows.of("missing").len(), 0);
}

#[test]
fn csv_that_is_written_is_read_again() {
    let mut rows = Rows::default();
    for group in ["plain", "with,comma", "with \"quotes\"", " blank"] {
        rows.insert(group, ("t".into(), 3), 12);
    }
    let text = rows.to_text(true);
    assert!(text.contains("\nplain,t,3,12\n"), "{text}");
    assert_eq!(Rows::parse(&text, Some("plain")), Ok(rows));
}

#[test]
fn csv_that_is_wrong_tells_its_line() {
    for (text, why) in [
        ("t,0", "line 1: it isn't topic,partition,offset"),
        ("t,0,1\nt,x,1", "line 2: \"x\" is no partition"),
        ("t,0,-1", "line 1: \"-1\" is no offset"),
        ("t,0,1\nt,0,2", "line 2: the partition is there twice"),
        ("\"t,0,1", "line 1: a quote"),
        ("\"t\"x,0,1", "line 1: a quote"),
    ] {
        let fault = Rows::parse(text, Some("g")).unwrap_err();
        assert!(fault.starts_with(why), "{fault}");
    }
    assert!(Rows::parse("t,0,1", None).unwrap_err().contains("name exactly one"));
}

#[test]
fn options_that_dont_fit_are_refused() {
    let parse = |line: &str| Cli::try_parse_from(format!("ringlog group {line}").split_whitespace());
    for good in [
        "reset-offsets g -t t --to-earliest",
        "reset-offsets g h -t t:0,1 -t u --shift-by -3 --execute",
        "reset-offsets --all-groups --all-topics --to-datetime 2026-11-30T15:00:00Z --dry-run",
        "reset-offsets g --from-file f.csv --export",
        "reset-offsets g -t t --by-duration PT1H",
        "delete a b --if-exists",
        "delete-offsets g -t t:1 -t u",
    ] {
        assert!(parse(good).is_ok(), "{good}: {}", parse(good).unwrap_err());
    }
    for bad in [
        "reset-offsets g -t t",
        "reset-offsets g --to-earliest",
        "reset-offsets -t t --to-earliest",
        "reset-offsets g --all-groups -t t --to-earliest",
        "reset-offsets g -t t --to-earliest --to-latest",
        "reset-offsets g -t t --all-topics --to-earliest",
        "reset-offsets g -t t --from-file f.csv",
        "reset-offsets g -t t --to-earliest --dry-run --execute",
        "reset-offsets g -t t --to-offset -1",
        "reset-offsets g -t t --to-datetime yesterday",
        "reset-offsets g -t t --by-duration 1h",
        "delete",
        "delete-offsets g",
    ] {
        assert_eq!(parse(bad).unwrap_err().exit_code(), 2, "{bad}");
    }
}

#[test]
fn a_commit_that_was_partly_refused_tells_which() {
    use protocol::error::ErrorCode;

    let of = |codes: [i16; 3]| -> Vec<((String, i32), i16)> {
        (0..).zip(codes).map(|(partition, code)| (("t".to_owned(), partition), code)).collect()
    };
    let (ok, full, loading) =
        (0, ErrorCode::OFFSET_METADATA_TOO_LARGE, ErrorCode::COORDINATOR_LOAD_IN_PROGRESS);
    assert!(refused("g", &of([ok; 3])).unwrap().is_empty());
    let found = refused("g", &of([ok, full.code(), ok])).unwrap();
    assert_eq!(found.into_iter().collect::<Vec<_>>(), [(("t".to_owned(), 1), full)]);
    // Nothing was committed: an error, by which a coordinator that loads is asked again.
    let failed = refused("g", &of([loading.code(); 3])).unwrap_err();
    assert_eq!(failed.code(), Some(loading));
}
