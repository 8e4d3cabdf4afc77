//! The page of a comparison.

use super::bar_chart::{Bar, BarGroup, bar_chart};
use super::line_chart::line_chart;
use super::page::Page;
use super::percentile_chart::percentile_chart;
use super::series::Series;
use crate::compare::{Better, Comparison, Curves, Line, Metric, Row, Summary, figure};

/// The figures of the first table: what a reader wants to know first.
const FIRST: [Metric; 3] = [Metric::MessagesPerS, Metric::CpuSPerGb, Metric::P99Ms];

/// The figures that get bars. MB/s has the ratios of msg/s, and p99.9 much of p99: they stand in the last table.
const DRAWN: [Metric; 8] = [
    Metric::MessagesPerS,
    Metric::CpuSPerGb,
    Metric::P50Ms,
    Metric::P99Ms,
    Metric::RssMib,
    Metric::SwitchesPerThousand,
    Metric::SyscallsPerThousand,
    Metric::WrittenPerByte,
];

/// Both brokers line by line: a table of what matters most, bars of every figure, and for each line how it went
/// over time and how its latencies lie.
pub fn comparison_page(comparison: &Comparison) -> String {
    let [a, b] = &comparison.targets;
    let mut page = Page::new(&format!("{} beside {}: {}", b.name, a.name, comparison.suite));
    page.text(&comparison.machine.to_string(), false);
    let rounds = comparison.rounds;
    page.text(
        &format!("Scale {}. Medians of {rounds} rounds, one broker at a time on the same cores, the first one changing.", comparison.scale),
        true,
    );
    if rounds < 5 {
        page.text("Fewer than five rounds: for a look, not to be quoted.", true);
    }
    page.command(&comparison.command);
    page.keys(&comparison.targets.clone().map(|target| format!("{}: {}", target.name, target.what)));
    first_table(&mut page, comparison);
    page.section("Figure by figure");
    page.text("Bars are medians, whiskers go from the lowest round to the highest.", true);
    for metric in DRAWN {
        bars(&mut page, comparison, metric);
    }
    if let Some(why) = &comparison.syscalls_not_counted {
        page.text(&format!("System calls were not counted: {why}."), true);
    }
    if comparison.lines.iter().any(|line| line.curves.iter().any(Option::is_some)) {
        page.section("Line by line");
        page.text("Curves of the round nearest to the median rate.", true);
    }
    for line in &comparison.lines {
        line_part(&mut page, comparison, line);
    }
    all_figures(&mut page, comparison);
    page.finish()
}

fn first_table(page: &mut Page, comparison: &Comparison) {
    let [a, b] = &comparison.targets;
    page.section("At a glance");
    let groups = FIRST.map(|metric| (metric.label().to_owned(), 3));
    let mut head = vec!["line".to_owned()];
    for _ in FIRST {
        head.extend([a.name.clone(), b.name.clone(), "ratio".into()]);
    }
    let rows: Vec<Vec<(String, &str)>> = comparison
        .lines
        .iter()
        .map(|line| {
            let mut cells = vec![(line.name.clone(), "")];
            for metric in FIRST {
                let row = line.row(metric);
                for side in 0..2 {
                    let summary = row.and_then(|row| row.sides[side].as_ref());
                    cells.push((summary.map_or("-".into(), |found| figure(found.median)), ""));
                }
                let (ratio, class) = row.map_or_else(|| ("-".into(), ""), ratio_of);
                cells.push((ratio, class));
            }
            cells
        })
        .collect();
    page.table(&groups, &head, &rows);
    for line in &comparison.lines {
        if let Some(why) = &line.not_run {
            page.text(&format!("{}: not run: {why}", line.name), true);
        }
    }
}

/// Every figure with its lowest and highest round.
fn all_figures(page: &mut Page, comparison: &Comparison) {
    let [a, b] = &comparison.targets;
    page.section("All figures");
    let head = ["line", "figure", &a.name, "lowest", "highest", &b.name, "lowest", "highest", "ratio"];
    let mut rows = Vec::new();
    for line in &comparison.lines {
        for (at, row) in line.rows.iter().enumerate() {
            let name = if at == 0 { line.name.clone() } else { String::new() };
            let mut cells = vec![(name, ""), (row.metric.label().to_owned(), "")];
            for side in &row.sides {
                let ends =
                    |of: fn(&Summary) -> f64| side.as_ref().map_or("-".into(), |found| figure(of(found)));
                cells.extend(
                    [ends(|found| found.median), ends(|found| found.min), ends(|found| found.max)]
                        .map(|text| (text, "")),
                );
            }
            cells.push(ratio_of(row));
            rows.push(cells);
        }
    }
    page.table(&[], &head.map(str::to_owned), &rows);
}

/// B by A, and whether that is good for B. Within 5 % it is neither.
fn ratio_of(row: &Row) -> (String, &'static str) {
    let Some(ratio) = row.ratio() else { return ("-".into(), "") };
    let gain = match row.metric.better() {
        Better::Higher => ratio,
        Better::Lower => 1.0 / ratio,
    };
    let class = if gain > 1.05 {
        "good"
    } else if gain < 0.95 {
        "bad"
    } else {
        ""
    };
    (format!("{} x", figure(ratio)), class)
}

fn bars(page: &mut Page, comparison: &Comparison, metric: Metric) {
    let bar = |summary: &Summary, side: usize| Bar {
        name: comparison.targets[side].name.clone(),
        value: summary.median,
        range: (summary.values.len() > 1).then_some((summary.min, summary.max)),
        label: figure(summary.median),
    };
    let groups: Vec<BarGroup> = comparison
        .lines
        .iter()
        .filter_map(|line| {
            let row = line.row(metric)?;
            let (remark, class) = ratio_of(row);
            let bars =
                (0..2).map(|side| row.sides[side].as_ref().map(|summary| bar(summary, side))).collect();
            Some(BarGroup { name: line.name.clone(), bars, remark, class })
        })
        .collect();
    if groups.is_empty() {
        return;
    }
    let good = match metric.better() {
        Better::Higher => "more is better",
        Better::Lower => "less is better",
    };
    let caption = format!(
        "{} ({good}); at the right {} by {}",
        metric.label(),
        comparison.targets[1].name,
        comparison.targets[0].name
    );
    let svg = bar_chart(metric.label(), &groups);
    page.charts(&[(caption, svg)], true);
}

fn line_part(page: &mut Page, comparison: &Comparison, line: &Line) {
    let series = |points: fn(&Curves) -> &Vec<(f64, f64)>| -> Vec<Series> {
        let sides = line.curves.iter().enumerate().filter_map(|(side, curves)| {
            let points = points(curves.as_ref()?);
            let name = comparison.targets[side].name.clone();
            (!points.is_empty()).then(|| Series { name, colour: side, points: points.clone() })
        });
        sides.collect()
    };
    let (rate, latency) = (series(|curves| &curves.rate), series(|curves| &curves.latency));
    let mut charts = Vec::new();
    if !rate.is_empty() {
        charts.push(("msg/s over time".to_owned(), line_chart(&line.name, "msg/s", &rate)));
    }
    if !latency.is_empty() {
        charts.push(("Latency by percentile".to_owned(), percentile_chart(&line.name, &latency)));
    }
    if !charts.is_empty() {
        page.part(&line.name);
        page.charts(&charts, false);
    }
}
