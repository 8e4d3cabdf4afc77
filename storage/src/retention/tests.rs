use super::*;

const NOW_MS: i64 = 1_700_000_000_000;

fn config(retention_ms: Option<u64>, retention_bytes: Option<u64>) -> LogConfig {
    LogConfig { retention_ms, retention_bytes, ..LogConfig::default() }
}

/// A segment with its newest timestamp.
#[derive(Clone, Copy)]
struct Segment {
    records: i64,
    bytes: u64,
    newest_ms: Option<i64>,
    modified_ms: i64,
}

fn segment(bytes: u64, age_ms: i64) -> Segment {
    let at_ms = NOW_MS - age_ms;
    Segment { records: 10, bytes, newest_ms: Some(at_ms), modified_ms: at_ms }
}

/// The reasons of all that go, as a look at the log finds them; the last segment is the active one.
fn judge(config: &LogConfig, segments: &[Segment], start: i64, high_watermark: i64) -> Vec<Reason> {
    let bytes = segments.iter().map(|segment| segment.bytes).sum();
    let mut sweep = Sweep::new(config, Offset(start), Offset(high_watermark), bytes, NOW_MS);
    let (mut base, mut reasons) = (0, Vec::new());
    for (at, segment) in segments.iter().enumerate() {
        let candidate = Candidate {
            base: Offset(base),
            end: Offset(base + segment.records),
            bytes: segment.bytes,
            modified_ms: segment.modified_ms,
            is_active: at + 1 == segments.len(),
        };
        let by_time = || sweep.by_time(&candidate, segment.newest_ms);
        let Some(reason) = sweep.by_place(&candidate).or_else(by_time) else { break };
        sweep.take(&candidate);
        reasons.push(reason);
        base = candidate.end.0;
    }
    reasons
}

fn all(config: &LogConfig, segments: &[Segment]) -> Vec<Reason> {
    let end = segments.iter().map(|segment| segment.records).sum();
    judge(config, segments, 0, end)
}

use Reason::{Size, Start, Time};

#[test]
fn a_segment_goes_when_its_newest_record_is_older_than_it_may_be() {
    let config = config(Some(1_000), None);
    assert_eq!(all(&config, &[segment(5, 1_001), segment(5, 1_000), segment(5, 0)]), [Time]);
    assert_eq!(
        all(&config, &[segment(5, 1_000), segment(5, 2_000), segment(5, 0)]),
        [],
        "the first that stays ends it"
    );
    let immediately = LogConfig { retention_ms: Some(0), ..config };
    assert_eq!(all(&immediately, &[segment(5, 1), segment(5, 0)]), [Time]);
}

#[test]
fn without_limits_nothing_goes() {
    let ancient = [segment(1 << 40, NOW_MS), segment(1 << 40, NOW_MS), segment(1, NOW_MS)];
    assert_eq!(all(&config(None, None), &ancient), []);
}

#[test]
fn the_active_segment_goes_too_unless_it_is_empty() {
    let config = config(Some(1_000), None);
    assert_eq!(all(&config, &[segment(5, 2_000)]), [Time]);
    assert_eq!(all(&config, &[segment(5, 3_000), segment(5, 2_000)]), [Time, Time]);
    let empty = Segment { records: 0, bytes: 0, newest_ms: None, modified_ms: 1 };
    assert_eq!(all(&config, &[segment(5, 2_000), empty]), [Time]);
    assert_eq!(all(&config, &[empty]), []);
}

#[test]
fn by_size_no_less_than_the_limit_stays() {
    let segments = [segment(10, 0), segment(10, 0), segment(10, 0), segment(5, 0)];
    let by_size = |bytes| all(&config(None, Some(bytes)), &segments);
    assert_eq!(by_size(35), []);
    assert_eq!(by_size(26), [], "without the first less than that would be left");
    assert_eq!(by_size(25), [Size]);
    assert_eq!(by_size(15), [Size, Size]);
    assert_eq!(by_size(1), [Size, Size, Size]);
    assert_eq!(by_size(0), [Size, Size, Size, Size], "no bytes may stay");
    assert_eq!(by_size(1 << 50), []);
}

#[test]
fn what_goes_by_time_counts_for_the_size_of_the_rest() {
    let config = config(Some(1_000), Some(15));
    assert_eq!(
        all(&config, &[segment(10, 5_000), segment(10, 5_000), segment(10, 0), segment(5, 0)]),
        [Size, Size]
    );
    assert_eq!(all(&config, &[segment(10, 5_000), segment(10, 5_000), segment(5, 0)]), [Size, Time]);
}

#[test]
fn segments_below_the_start_go_under_every_policy() {
    let old = [segment(10, 5_000), segment(10, 5_000), segment(10, 5_000)];
    for delete in [true, false] {
        let config = LogConfig { delete, ..config(None, None) };
        assert_eq!(judge(&config, &old, 9, 30), []);
        assert_eq!(judge(&config, &old, 10, 30), [Start]);
        assert_eq!(judge(&config, &old, 29, 30), [Start, Start]);
        assert_eq!(judge(&config, &old, 30, 30), [Start, Start], "never the active one");
    }
    let compacted = LogConfig { delete: false, ..config(Some(1), Some(1)) };
    assert_eq!(all(&compacted, &old), [], "neither by time nor by size");
}

#[test]
fn nothing_goes_at_or_behind_the_high_watermark() {
    let old = [segment(10, 5_000), segment(10, 5_000), segment(10, 5_000)];
    let config = config(Some(1_000), Some(0));
    assert_eq!(judge(&config, &old, 0, 9), []);
    assert_eq!(judge(&config, &old, 0, 10), [Size]);
    assert_eq!(judge(&config, &old, 0, 29), [Size, Size]);
    assert_eq!(judge(&config, &old, 20, 15), [Start], "not even below the start");
}

#[test]
fn equal_timestamps_are_one_age() {
    let config = config(Some(1_000), None);
    assert_eq!(all(&config, &[segment(5, 1_500); 4]), [Time; 4]);
    assert_eq!(all(&config, &[segment(5, 1_000); 4]), []);
}

#[test]
fn without_timestamps_the_last_write_tells_the_age() {
    let config = config(Some(1_000), None);
    let written = |modified_ms, newest_ms| Segment { newest_ms, modified_ms, ..segment(5, 0) };
    let last = segment(5, 0);
    for none in [None, Some(-1)] {
        assert_eq!(all(&config, &[written(NOW_MS - 2_000, none), last]), [Time]);
        assert_eq!(all(&config, &[written(NOW_MS - 500, none), last]), []);
        assert_eq!(all(&config, &[written(0, none), last]), [], "nothing tells");
        assert_eq!(all(&config, &[written(NOW_MS + 5_000, none), last]), [], "as young as can be");
    }
    assert_eq!(all(&config, &[written(NOW_MS, Some(5)), last]), [Time], "old records, sent just now");
}

#[test]
fn a_time_ahead_of_the_clock_keeps_a_segment_only_as_long_as_it_may_be_ahead() {
    let year_2100_ms = 4_102_444_800_000;
    let last = segment(5, 0);
    let goes = |after_max_ms, written_ago_ms, newest_ms| {
        let config = LogConfig { timestamp_after_max_ms: after_max_ms, ..config(Some(1_000), None) };
        let modified_ms = NOW_MS - written_ago_ms;
        let ahead = Segment { newest_ms: Some(newest_ms), modified_ms, ..segment(5, 0) };
        all(&config, &[ahead, last]) == [Time]
    };
    assert!(!goes(3_600_000, 3_600_000, year_2100_ms), "it may be an hour ahead");
    assert!(goes(3_600_000, 3_601_001, year_2100_ms));
    assert!(goes(0, 1_001, year_2100_ms) && !goes(0, 1_000, year_2100_ms));
    assert!(goes(i64::MAX as u64, 1_001, year_2100_ms), "where any time is allowed, such a time is none");
    assert!(goes(u64::MAX, 1_001, i64::MAX));
    assert!(!goes(3_600_000, 3_601_001, NOW_MS), "now isn't ahead");
    assert!(!goes(3_600_000, NOW_MS, year_2100_ms), "when it was written isn't known: it stays");
    let far_ms = TIMESTAMP_AHEAD_MAX_MS;
    assert!(!goes(far_ms, 1_001, year_2100_ms), "a bound that was chosen is kept");
}
