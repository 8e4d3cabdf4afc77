//! Results as files.

use hdrhistogram::Histogram;

use super::*;

#[test]
fn a_result_reads_back_what_it_wrote() {
    let mut histogram = Histogram::<u64>::new(3).unwrap();
    (1..=1000).for_each(|us| histogram.record(us * 1000).unwrap());
    let latency = Latency::of_us(&histogram).unwrap();
    let flow = Flow { records: 5000, value_bytes: 500_000, ..Flow::default() }.over(2.0);
    let line = LineResult {
        name: "one".into(),
        outcome: Outcome::Failed { why: "the broker went away".into() },
        produced: Some(flow),
        produce_latency: Some(latency),
        verify: Some(VerifyOutcome { acked: 5000, ..VerifyOutcome::default() }),
        figure_2014: Some(Figure { records_per_s: Some(821_557.0), ..Figure::default() }),
        ..LineResult::default()
    };
    let result = RunResult { lines: vec![line, LineResult::not_run("two", "no")], ..RunResult::default() };
    let json = serde_json::to_string(&result).unwrap();
    assert_eq!(serde_json::from_str::<RunResult>(&json).unwrap(), result);
    assert!(result.has_failed() && !result.is_faulty());
    assert_eq!(result.lines[0].records_per_s(), 2500.0);
    assert_eq!(result.lines[0].mb_per_s(), 0.25);
}

#[test]
fn latencies_are_a_histograms() {
    let mut histogram = Histogram::<u64>::new(3).unwrap();
    assert_eq!(Latency::of_us(&histogram), None);
    (1..=1000).for_each(|us| histogram.record(us * 1000).unwrap());
    let latency = Latency::of_us(&histogram).unwrap();
    let near = |got: f64, want: f64| assert!((got - want).abs() <= want * 0.002, "{got} for {want}");
    near(latency.p50_ms, 500.0);
    near(latency.p99_ms, 990.0);
    near(latency.p9999_ms, 1000.0);
    near(latency.max_ms, 1000.0);
    assert!(latency.curve.is_sorted_by(|a, b| a.percentile < b.percentile && a.ms <= b.ms));
}

#[test]
fn fields_of_later_versions_are_missing_in_old_files() {
    let line: LineResult = serde_json::from_str(r#"{"name": "old"}"#).unwrap();
    assert_eq!(line, LineResult { name: "old".into(), ..LineResult::default() });
}

#[test]
fn what_is_proven_depends_on_what_was_asked() {
    use crate::scenario::Delivery;
    let twice = VerifyOutcome { duplicated: 1, ..VerifyOutcome::default() };
    assert!(!VerifyOutcome { delivery: Delivery::Once, ..twice.clone() }.is_proven());
    assert!(VerifyOutcome { delivery: Delivery::AtLeastOnce, ..twice }.is_proven());
    let faults: [fn(&mut VerifyOutcome); 5] = [
        |outcome| outcome.missing = 1,
        |outcome| outcome.altered = 1,
        |outcome| outcome.reordered = 1,
        |outcome| outcome.strayed = 1,
        |outcome| outcome.unfinished = Some("the broker is gone".into()),
    ];
    for fault in faults {
        let mut outcome = VerifyOutcome { delivery: Delivery::AtLeastOnce, ..VerifyOutcome::default() };
        fault(&mut outcome);
        assert!(!outcome.is_proven(), "{outcome:?}");
    }
}
