//! Whole pages: all of it in one file, and no name or number lost.

use crate::compare::{Comparison, Curves, Line, Machine, Metric, Row, Summary, TargetFacts};
use crate::html::{comparison_page, run_page};
use crate::result::{CurvePoint, Flow, Latency, LineResult, Outcome, RunResult, Second};

/// Elements that were opened and not closed; those of SVG close themselves.
fn unclosed(page: &str) -> Vec<String> {
    let mut open: Vec<String> = Vec::new();
    for tag in page.split('<').skip(1).filter_map(|rest| rest.split_once('>').map(|(tag, _)| tag)) {
        let name = tag.split([' ', '\n']).next().unwrap_or("").trim_end_matches('/').to_owned();
        if let Some(closed) = name.strip_prefix('/') {
            assert_eq!(open.pop().as_deref(), Some(closed), "before </{closed}>");
        } else if !tag.ends_with('/') && !["meta", "!DOCTYPE"].contains(&name.as_str()) {
            open.push(name);
        }
    }
    open
}

fn check_document(page: &str) {
    assert!(page.starts_with("<!DOCTYPE html>"));
    assert_eq!(unclosed(page), Vec::<String>::new());
    for foreign in ["http:", "https:", "<script", "<link", "@import", "url(", "src="] {
        assert!(!page.contains(foreign), "a page stands alone, without {foreign}");
    }
}

fn comparison() -> Comparison {
    let both = |a: &[f64], b: &[f64]| [Summary::of(a.to_vec()), Summary::of(b.to_vec())];
    let rows = vec![
        Row { metric: Metric::MessagesPerS, sides: both(&[400e3, 410e3, 390e3], &[900e3, 800e3, 850e3]) },
        Row { metric: Metric::CpuSPerGb, sides: both(&[9.0, 8.0, 10.0], &[3.0, 3.0, 3.0]) },
        Row { metric: Metric::P99Ms, sides: both(&[2.0], &[4.0]) },
    ];
    let curves = Curves { rate: vec![(1.0, 4e5), (2.0, 4.2e5)], latency: vec![(50.0, 1.0), (99.0, 2.0)] };
    let run = Line {
        name: "1 producer <acks=1>".into(),
        not_run: None,
        rows,
        curves: [Some(curves), None],
        msgs_per_s_2014: None,
    };
    let idle = Line {
        name: "3 replicas".into(),
        not_run: Some("it takes three addresses".into()),
        rows: Vec::new(),
        curves: [None, None],
        msgs_per_s_2014: Some(421_823.0),
    };
    let target = |name: &str| TargetFacts { name: name.into(), what: format!("{name} with settings") };
    Comparison {
        suite: "kreps2014".into(),
        scale: "small".into(),
        rounds: 3,
        command: "ringlog-loadgen compare".into(),
        machine: Machine { processor: "a processor".into(), date: "2026-11-30".into(), ..Machine::default() },
        targets: [target("kafka"), target("ringlog")],
        lines: vec![run, idle],
        syscalls_not_counted: Some("no perf".into()),
    }
}

#[test]
fn a_comparison_is_one_document_with_all_its_figures() {
    let page = comparison_page(&comparison());
    check_document(&page);
    for expected in [
        "ringlog beside kafka",
        "1 producer &lt;acks=1&gt;",
        "2.12 x",
        "0.333 x",
        "2.00 x",
        "400,000",
        "850,000",
        "it takes three addresses",
        "no perf",
        "a processor",
        "ringlog-loadgen compare",
        "Fewer than five rounds",
        "All figures",
    ] {
        assert!(page.contains(expected), "{expected}");
    }
    assert_eq!(page.matches("<svg").count(), 3 + 2, "bars of three figures, two curves");
    assert!(
        page.contains("class=\"good\">0.333 x") && page.contains("class=\"bad\">2.00 x"),
        "less is better of costs"
    );
}

#[test]
fn a_comparison_reads_back_what_it_wrote() {
    let written = serde_json::to_string(&comparison()).unwrap();
    assert_eq!(serde_json::from_str::<Comparison>(&written).unwrap(), comparison());
}

#[test]
fn a_run_is_one_document_too() {
    let curve = [0.0, 50.0, 99.0].map(|percentile| CurvePoint { percentile, ms: percentile / 10.0 });
    let second = |at_s| Second { at_s, produced_per_s: 5e5, consumed_per_s: 4e5, ..Second::default() };
    let line = LineResult {
        name: "both ways".into(),
        produced: Some(Flow { records: 1_000_000, ..Flow::default() }.over(2.0)),
        consumed: Some(Flow::default()),
        produce_latency: Some(Latency { p99_ms: 9.9, curve: curve.into(), ..Latency::default() }),
        series: vec![second(1.0), second(2.0)],
        errors: [("NOT_LEADER".to_owned(), 3)].into(),
        ..LineResult::default()
    };
    let failed = LineResult {
        outcome: Outcome::Failed { why: "the broker went away".into() },
        ..LineResult::not_run("two", "")
    };
    let result = RunResult { scenario: "mixed".into(), lines: vec![line, failed], ..RunResult::default() };
    let page = run_page(&result);
    check_document(&page);
    for expected in
        ["both ways", "500,000", "9.90", "3.00 errors", "failed: the broker went away", "consumed"]
    {
        assert!(page.contains(expected), "{expected}");
    }
    assert_eq!(page.matches("<svg").count(), 2);
}
