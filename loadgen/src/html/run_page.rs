//! The page of one run.

use super::line_chart::line_chart;
use super::page::Page;
use super::percentile_chart::percentile_chart;
use super::series::Series;
use crate::compare::figure;
use crate::result::{Latency, LineResult, Outcome, RunResult, Second};

/// One scenario against one target: a table of its lines, and for each how it went over time and how its
/// latencies lie.
pub fn run_page(result: &RunResult) -> String {
    let mut page = Page::new(&format!("{} against {}", result.scenario, result.target.name));
    let host = &result.host;
    page.text(
        &format!("{}, {} cores, {} MiB, {}", host.cpu, host.cores, host.memory_bytes >> 20, host.kernel),
        false,
    );
    let (scale, seconds) = (result.scale, figure(result.duration_s));
    page.text(
        &format!("Brokers asked first: {}. Scale {scale}, {seconds} s in all.", result.target.bootstrap),
        true,
    );
    page.section("At a glance");
    let head = [
        "line",
        "msg/s",
        "MB/s",
        "p50 ms",
        "p99 ms",
        "p99.9 ms",
        "client CPU us/msg",
        "broker CPU s/GB",
        "remarks",
    ];
    let rows: Vec<_> = result.lines.iter().map(row).collect();
    page.table(&[], &head.map(str::to_owned), &rows);
    if result.lines.iter().any(|line| !line.series.is_empty()) {
        page.section("Line by line");
    }
    for line in &result.lines {
        line_part(&mut page, line);
    }
    page.finish()
}

fn row(line: &LineResult) -> Vec<(String, &'static str)> {
    let remarks = remarks(line);
    let bad = matches!(line.outcome, Outcome::Failed { .. })
        || line.verify.as_ref().is_some_and(|found| !found.is_proven());
    let mut cells = vec![(line.name.clone(), "")];
    if matches!(line.outcome, Outcome::NotRun { .. }) {
        cells.extend((0..7).map(|_| ("-".to_owned(), "")));
    } else {
        let latency = main_latency(line);
        let ms = |of: fn(&Latency) -> f64| latency.map_or("-".into(), |latency| figure(of(latency)));
        let numbers = [
            figure(line.records_per_s()),
            figure(line.mb_per_s()),
            ms(|latency| latency.p50_ms),
            ms(|latency| latency.p99_ms),
            ms(|latency| latency.p999_ms),
            figure(line.client.cpu_us_per_record),
            line.broker.as_ref().map_or("-".into(), |broker| figure(broker.cpu_s_per_gb)),
        ];
        cells.extend(numbers.map(|text| (text, "")));
    }
    cells.push((remarks, if bad { "note bad" } else { "note" }));
    cells
}

fn remarks(line: &LineResult) -> String {
    let mut remarks = Vec::new();
    match &line.outcome {
        Outcome::Done => {}
        Outcome::NotRun { why } => remarks.push(format!("not run: {why}")),
        Outcome::Failed { why } => remarks.push(format!("failed: {why}")),
    }
    if line.client.is_limit {
        remarks.push("limited by the client".into());
    }
    match &line.verify {
        Some(found) if found.is_proven() => {
            remarks.push(format!("{} records verified", figure(found.acked as f64)))
        }
        Some(_) => remarks.push("verification failed".into()),
        None => {}
    }
    let errors: u64 = line.errors.values().sum();
    if errors > 0 {
        remarks.push(format!("{} errors", figure(errors as f64)));
    }
    remarks.join("; ")
}

/// The latency a reader of the line asks for.
pub(super) fn main_latency(line: &LineResult) -> Option<&Latency> {
    line.end_to_end_latency.as_ref().or(line.produce_latency.as_ref()).or(line.fetch_latency.as_ref())
}

fn line_part(page: &mut Page, line: &LineResult) {
    let over_time = |name: &str, colour, of: fn(&Second) -> f64| {
        let points = line.series.iter().map(|second| (second.at_s, of(second))).collect();
        Series { name: name.into(), colour, points }
    };
    let curve = |name: &str, colour, latency: &Option<Latency>| {
        let points = latency.as_ref()?.curve.iter().map(|point| (point.percentile, point.ms)).collect();
        Some(Series { name: name.into(), colour, points })
    };
    let mut rates = Vec::new();
    if line.produced.is_some() {
        rates.push(over_time("produced", 1, |second| second.produced_per_s));
    }
    if line.consumed.is_some() {
        rates.push(over_time("consumed", 0, |second| second.consumed_per_s));
    }
    let latencies: Vec<Series> = [
        curve("produce", 1, &line.produce_latency),
        curve("fetch", 0, &line.fetch_latency),
        curve("end to end", 2, &line.end_to_end_latency),
    ]
    .into_iter()
    .flatten()
    .collect();
    let mut charts = Vec::new();
    if !line.series.is_empty() && !rates.is_empty() {
        charts.push(("msg/s over time".to_owned(), line_chart(&line.name, "msg/s", &rates)));
    }
    if !latencies.is_empty() {
        charts.push(("Latency by percentile".to_owned(), percentile_chart(&line.name, &latencies)));
    }
    if !charts.is_empty() {
        page.part(&line.name);
        page.charts(&charts, false);
    }
}
