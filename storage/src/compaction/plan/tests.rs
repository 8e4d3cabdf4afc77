use super::{Dirt, Segment, first_dirty};
use crate::Offset;
use crate::config::CompactionConfig;

/// Segments of 100 bytes and ten offsets each.
fn segments(count: i64) -> Vec<Segment> {
    (0..count).map(|at| Segment { base: Offset(at * 10), end: Offset(at * 10 + 10), bytes: 100 }).collect()
}

fn dirt(count: i64, first_dirty: i64, stable: i64, young_from: Option<i64>) -> Dirt {
    Dirt::of(&segments(count), Offset(first_dirty), Offset(stable), young_from.map(Offset))
}

fn due_from(min_cleanable_ratio: f64) -> CompactionConfig {
    CompactionConfig { min_cleanable_ratio, ..CompactionConfig::default() }
}

#[test]
fn only_whole_closed_segments_below_the_last_stable_offset_are_compacted() {
    assert_eq!(dirt(4, 0, 40, None).upto, Offset(40));
    assert_eq!(dirt(4, 0, 39, None).upto, Offset(30));
    assert_eq!(dirt(4, 0, 9, None).upto, Offset(0));
    assert_eq!(dirt(4, 0, 9, None).dirty_bytes, 0);
    assert_eq!(dirt(4, 0, 40, Some(20)).upto, Offset(20), "what is too young");
    assert_eq!(dirt(4, 0, 15, Some(20)).upto, Offset(10));
    assert_eq!(dirt(0, 0, 40, None), Dirt::of(&[], Offset(0), Offset(40), None));
    assert_eq!(dirt(0, 0, 40, None).upto, Offset(0));
}

#[test]
fn the_ratio_is_of_what_may_be_rewritten() {
    assert_eq!(dirt(4, 0, 40, None).ratio(), 1.0);
    assert_eq!(dirt(4, 20, 40, None).ratio(), 0.5);
    assert_eq!(dirt(4, 40, 40, None).ratio(), 0.0);
    assert_eq!(dirt(0, 0, 0, None).ratio(), 0.0, "nothing at all");
    assert_eq!(dirt(4, 30, 10, None).upto, Offset(30), "the stable offset may lie before what is clean");
    let partial = dirt(4, 25, 40, None);
    assert_eq!((partial.clean_bytes, partial.dirty_bytes), (200, 200), "a segment that is clean in part");
}

#[test]
fn a_pass_is_due_above_the_ratio_or_when_something_is_overdue() {
    assert!(!dirt(4, 20, 40, None).is_due(&due_from(0.5)), "not at the ratio itself");
    assert!(dirt(4, 20, 40, None).is_due(&due_from(0.49)));
    assert!(!dirt(4, 40, 40, None).is_due(&due_from(0.0)), "nothing is dirty");
    let since = |oldest, max_lag_ms| dirt(4, 30, 40, None).since(oldest, 10_000, max_lag_ms);
    assert!(since(Some(8_999), 1_000).is_due(&due_from(1.0)));
    assert_eq!(since(Some(8_999), 1_000).overdue_ms, 1);
    for (oldest, lag) in [
        (Some(9_000), 1_000),
        (None, 1_000),
        (Some(-1), 1_000),
        (Some(1), u64::MAX),
        (Some(1), i64::MAX as u64),
    ] {
        assert!(!since(oldest, lag).is_due(&due_from(1.0)), "{oldest:?} {lag}");
    }
    assert!(!dirt(4, 40, 40, None).since(Some(1), 10_000, 1).is_due(&due_from(1.0)), "nothing is dirty");
}

#[test]
fn what_was_noted_holds_only_within_the_log() {
    let first = |noted: Option<i64>| first_dirty(noted.map(Offset), Offset(10), Offset(50));
    assert_eq!([None, Some(9), Some(51), Some(10), Some(50)].map(first), [10, 10, 10, 10, 50].map(Offset));
}
