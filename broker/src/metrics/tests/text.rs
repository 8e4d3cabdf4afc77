//! The text format, letter by letter.

use std::time::Duration;

use rt::{TIME_BOUNDS_NS, TimeHistogram};

use super::sample::sample;
use crate::metrics::family::{Family, Kind};
use crate::metrics::text::TextWriter;

static COUNTER: Family = Family {
    name: "c_total",
    kind: Kind::Counter,
    labels: &["a", "b"],
    unit: "1",
    help: "A help.",
    kafka: "",
};

static HISTOGRAM: Family = Family {
    name: "h_seconds",
    kind: Kind::Histogram,
    labels: &["a"],
    unit: "seconds",
    help: "Times.",
    kafka: "",
};

#[test]
fn samples_have_their_labels_escaped() {
    let mut out = TextWriter::default();
    out.family(&COUNTER);
    out.sample(&["x\\y\"z\n", "é"], u64::MAX);
    let wanted = "# HELP c_total A help.\n# TYPE c_total counter\n\
                  c_total{a=\"x\\\\y\\\"z\\n\",b=\"é\"} 18446744073709551615\n";
    assert_eq!(out.finish(), wanted);
}

#[test]
fn a_histogram_is_cumulated_and_ends_with_everything() {
    let histogram = TimeHistogram::default();
    for took in [Duration::from_micros(50), Duration::from_micros(51), Duration::from_secs(100)] {
        histogram.record(took);
    }
    let mut out = TextWriter::default();
    out.family(&HISTOGRAM);
    out.histogram(&["x"], &histogram.counts());
    let text = out.finish();
    let samples: Vec<&str> = text.lines().skip(2).collect();
    assert_eq!(samples.len(), TIME_BOUNDS_NS.len() + 3);
    assert_eq!(samples[0], "h_seconds_bucket{a=\"x\",le=\"0.00005\"} 1");
    assert_eq!(samples[1], "h_seconds_bucket{a=\"x\",le=\"0.0001\"} 2");
    assert_eq!(samples[17], "h_seconds_bucket{a=\"x\",le=\"30\"} 2");
    assert_eq!(samples[18], "h_seconds_bucket{a=\"x\",le=\"+Inf\"} 3");
    assert_eq!(samples[19..], ["h_seconds_sum{a=\"x\"} 100.000101", "h_seconds_count{a=\"x\"} 3"]);
}

#[test]
#[should_panic = "labels of c_total"]
fn a_sample_has_all_labels_of_its_family() {
    let mut out = TextWriter::default();
    out.family(&COUNTER);
    out.sample(&["x"], 1);
}

#[test]
fn every_line_of_a_node_is_well_formed() {
    for line in sample().lines().filter(|line| !line.starts_with('#')) {
        let (series, value) = line.rsplit_once(' ').unwrap();
        assert!(value.parse::<f64>().is_ok_and(f64::is_finite), "{line}");
        assert!(!series.contains('{') || series.ends_with("\"}"), "{line}");
    }
}
