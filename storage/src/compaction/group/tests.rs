use super::{Limits, Sized, group, rewritten};
use crate::Offset;
use crate::compaction::plan::Segment;

fn sized(base: i64, end: i64, bytes: u64, index_bytes: u64, time_index_bytes: u64) -> Sized {
    let segment = Segment { base: Offset(base), end: Offset(end), bytes };
    Sized { segment, index_bytes, time_index_bytes }
}

fn grouped(segments: &[Sized]) -> Vec<usize> {
    let groups = group(segments, Limits { segment_bytes: 1_000, index_bytes: 100 });
    let mut at = 0;
    for group in &groups {
        assert_eq!(group.start, at, "every segment is in exactly one group");
        at = group.end;
    }
    assert_eq!(at, segments.len());
    groups.into_iter().map(|group| group.len()).collect()
}

#[test]
fn neighbours_are_put_together_up_to_a_segments_size() {
    let of = |sizes: &[u64]| -> Vec<Sized> {
        (0..).zip(sizes).map(|(at, bytes)| sized(at * 10, at * 10 + 10, *bytes, 8, 12)).collect()
    };
    assert_eq!(grouped(&of(&[])), [0usize; 0]);
    assert_eq!(grouped(&of(&[400, 600, 1, 999, 1])), [2, 2, 1]);
    assert_eq!(grouped(&of(&[5_000, 5_000])), [1, 1], "larger than the setting by now");
    assert_eq!(grouped(&of(&[0, 0, 1_000, 0])), [4], "empty ones go with the others");
}

#[test]
fn the_indexes_must_fit_too() {
    assert_eq!(grouped(&[sized(0, 10, 1, 60, 0), sized(10, 20, 1, 40, 0), sized(20, 30, 1, 1, 0)]), [2, 1]);
    assert_eq!(grouped(&[sized(0, 10, 1, 0, 60), sized(10, 20, 1, 0, 41)]), [1, 1]);
}

#[test]
fn offsets_keep_within_31_bits_of_the_base() {
    let max = i64::from(i32::MAX);
    assert_eq!(grouped(&[sized(7, 10, 1, 0, 0), sized(10, 8 + max, 1, 0, 0)]), [2]);
    assert_eq!(grouped(&[sized(7, 10, 1, 0, 0), sized(10, 9 + max, 1, 0, 0)]), [1, 1]);
    assert_eq!(grouped(&[sized(7, 10, 1, 0, 0), sized(10, 9 + max, 0, 0, 0)]), [2], "without an offset");
}

#[test]
fn a_pass_that_ends_within_a_segment_rewrites_that_one_too() {
    let segments: Vec<Segment> =
        (0..3).map(|at| Segment { base: Offset(at * 10), end: Offset(at * 10 + 10), bytes: 1 }).collect();
    let count = |mapped| rewritten(&segments, Offset(mapped)).len();
    assert_eq!([0, 1, 10, 11, 30, 99].map(count), [0, 1, 1, 2, 3, 3]);
}
