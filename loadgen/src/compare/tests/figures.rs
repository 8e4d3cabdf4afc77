//! Medians, ratios, and the table.

use crate::compare::measure::assemble;
use crate::compare::metric::figure;
use crate::compare::{Comparison, Machine, Metric, Row, Summary, TargetFacts};
use crate::result::{BrokerSample, CurvePoint, Figure, Flow, Latency, LineResult, Outcome, Second};

#[test]
fn a_summary_is_the_middle_with_its_ends() {
    let odd = Summary::of(vec![9.0, 1.0, 5.0]).unwrap();
    assert_eq!((odd.median, odd.min, odd.max, odd.median_round()), (5.0, 1.0, 9.0, 2));
    assert_eq!(Summary::of(vec![4.0, 1.0, 2.0, 3.0]).unwrap().median, 2.5);
    assert!((odd.spread() - 1.6).abs() < 1e-9);
    assert_eq!((Summary::of(vec![]), Summary::of(vec![1.0, f64::NAN])), (None, None));
    assert_eq!(Summary::of(vec![0.0]).unwrap().spread(), 0.0);
}

#[test]
fn a_ratio_is_b_by_a() {
    let row = |a: Option<f64>, b: Option<f64>| {
        let side = |value: Option<f64>| value.and_then(|value| Summary::of(vec![value]));
        Row { metric: Metric::MessagesPerS, sides: [side(a), side(b)] }.ratio()
    };
    assert_eq!(row(Some(2.0), Some(5.0)), Some(2.5));
    assert_eq!((row(None, Some(1.0)), row(Some(0.0), Some(1.0))), (None, None));
}

#[test]
fn figures_have_three_digits_that_mean_something() {
    let shown = [1_234_567.8, 999.6, 99.96, 12.34, 1.234, 0.01234, 0.0, -5_000.0, f64::NAN].map(figure);
    assert_eq!(shown, ["1,234,568", "1,000", "100.0", "12.3", "1.23", "0.012", "0", "-5,000", "-"]);
}

/// A line of one round: `rate` records of 100 bytes in one second.
fn round(rate: u64, cpu_s: f64) -> LineResult {
    let flow = Flow { records: rate, value_bytes: rate * 100, ..Flow::default() };
    let broker = BrokerSample {
        cpu_s,
        rss_bytes: 64 << 20,
        voluntary_switches: rate / 100,
        involuntary_switches: rate / 100,
        written_bytes: rate * 110,
        ..BrokerSample::default()
    };
    LineResult {
        name: "one".into(),
        produced: Some(flow.over(1.0)),
        produce_latency: Some(Latency {
            p99_ms: 7.0,
            curve: vec![CurvePoint { percentile: 50.0, ms: rate as f64 }],
            ..Latency::default()
        }),
        series: vec![Second { at_s: 1.0, produced_per_s: rate as f64, ..Second::default() }],
        broker: Some(broker),
        figure_2014: Some(Figure { records_per_s: Some(821_557.0), ..Figure::default() }),
        ..LineResult::default()
    }
}

fn rounds() -> [Vec<Vec<LineResult>>; 2] {
    let other = || LineResult::not_run("replicated", "it takes three addresses");
    let side = |rates: [u64; 3], cpu_s| rates.map(|rate| vec![round(rate, cpu_s), other()]).to_vec();
    [side([1_000_000, 3_000_000, 2_000_000], 2.0), side([4_000_000, 4_000_000, 6_000_000], 1.0)]
}

#[test]
fn all_rounds_of_both_sides_come_together() {
    let mut counted = round(1_000_000, 9.0);
    counted.broker.as_mut().unwrap().syscalls = Some(50_000);
    let lines = assemble(&rounds(), &[vec![counted], vec![]]);
    assert_eq!(lines.iter().map(|line| line.name.as_str()).collect::<Vec<_>>(), ["one", "replicated"]);
    let medians = |metric| {
        let row = lines[0].row(metric).unwrap();
        row.sides.clone().map(|side| side.map(|summary| summary.median))
    };
    assert_eq!(medians(Metric::MessagesPerS), [Some(2e6), Some(4e6)]);
    assert_eq!(medians(Metric::MegabytesPerS), [Some(200.0), Some(400.0)]);
    assert_eq!(medians(Metric::P99Ms), [Some(7.0), Some(7.0)]);
    assert_eq!(medians(Metric::CpuSPerGb), [Some(10.0), Some(2.5)]);
    assert_eq!(medians(Metric::RssMib), [Some(64.0), Some(64.0)]);
    assert_eq!(medians(Metric::SwitchesPerThousand), [Some(20.0), Some(20.0)]);
    assert_eq!(medians(Metric::WrittenPerByte), [Some(1.1), Some(1.1)]);
    assert_eq!(medians(Metric::SyscallsPerThousand), [Some(50.0), None], "of the counted round alone");
    let [a, b] = &lines[0].curves;
    assert_eq!(a.as_ref().unwrap().rate, [(1.0, 2e6)], "the round nearest to the median");
    assert_eq!(b.as_ref().unwrap().latency, [(50.0, 4e6)]);
    assert_eq!(lines[0].msgs_per_s_2014, Some(821_557.0));
    assert_eq!(lines[1].not_run.as_deref(), Some("it takes three addresses"));
    assert!(lines[1].rows.is_empty());
}

#[test]
fn a_failed_round_is_told_and_doesn_t_count() {
    let mut rounds = rounds();
    rounds[1][2][0].outcome = Outcome::Failed { why: "the broker went away".into() };
    let lines = assemble(&rounds, &[vec![], vec![]]);
    assert_eq!(lines[0].not_run.as_deref(), Some("failed: the broker went away"));
    let rates = lines[0].row(Metric::MessagesPerS).unwrap();
    assert_eq!(rates.sides[1].as_ref().unwrap().values, [4e6, 4e6]);
}

#[test]
fn the_table_tells_medians_ends_and_ratios() {
    let target = |name: &str| TargetFacts { name: name.into(), what: format!("{name} 1.0") };
    let comparison = Comparison {
        suite: "kreps2014".into(),
        scale: "small".into(),
        rounds: 3,
        command: String::new(),
        machine: Machine::default(),
        targets: [target("kafka"), target("ringlog")],
        lines: assemble(&rounds(), &[vec![], vec![]]),
        syscalls_not_counted: Some("perf isn't there".into()),
    };
    let table = comparison.to_string();
    let row = |label: &str| {
        let found = table.lines().find(|line| line.trim_start().starts_with(label));
        found
            .unwrap_or_else(|| panic!("{label} in\n{table}"))
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ")
    };
    assert_eq!(
        row("msg/s "),
        "msg/s 2,000,000 (1,000,000 to 3,000,000) 4,000,000 (4,000,000 to 6,000,000) 2.00 x"
    );
    assert_eq!(row("broker CPU"), "broker CPU s/GB 10.0 (6.67 to 20.0) 2.50 (1.67 to 2.50) 0.250 x");
    assert_eq!(row("msg/s in 2014"), "msg/s in 2014 821,557");
    assert_eq!(row("not run"), "not run: it takes three addresses");
    assert_eq!(row("system calls:"), "system calls: not measured: perf isn't there");
    assert_eq!(row("fewer than five"), "fewer than five rounds: for a look, not to be quoted");
    assert!(table.contains("ringlog/kafka"));
}
