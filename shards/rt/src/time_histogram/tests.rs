use super::*;

#[test]
fn a_bound_belongs_to_its_own_bucket() {
    let histogram = TimeHistogram::default();
    for (bucket, bound_ns) in TIME_BOUNDS_NS.into_iter().enumerate() {
        histogram.record(Duration::from_nanos(bound_ns));
        assert_eq!(histogram.counts().buckets[bucket], 1, "{bound_ns} ns itself");
        histogram.record(Duration::from_nanos(bound_ns + 1));
        assert_eq!(histogram.counts().buckets[bucket], 1, "a nanosecond more than {bound_ns}");
        assert_eq!(histogram.counts().buckets[bucket + 1], 1);
        // The next bound is counted into a fresh one.
        histogram.buckets[bucket + 1].set(0);
    }
}

#[test]
fn nothing_is_lost_at_the_ends() {
    let histogram = TimeHistogram::default();
    histogram.record(Duration::ZERO);
    histogram.record(Duration::MAX);
    let counts = histogram.counts();
    assert_eq!((counts.buckets[0], counts.buckets[BUCKETS - 1], counts.total()), (1, 1, 2));
    assert_eq!(counts.sum_ns, u64::MAX, "a sum doesn't wrap");
}

#[test]
fn the_sum_is_in_nanoseconds() {
    let histogram = TimeHistogram::default();
    histogram.record(Duration::from_micros(3));
    histogram.record(Duration::from_millis(2));
    assert_eq!(histogram.counts().sum_ns, 2_003_000);
}
