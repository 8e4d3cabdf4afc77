//! A result as a table.

use super::progress::short;
use crate::result::{Latency, LineResult, Outcome, RunResult};

const HEADINGS: [&str; 12] = [
    "line",
    "msg/s",
    "MB/s",
    "2014 msg/s",
    "p50 ms",
    "p99",
    "p99.9",
    "p99.99",
    "max",
    "e2e p50",
    "e2e p99",
    "client us/msg",
];

/// The table of a whole run, one row a line, with notes below it.
pub(super) fn table(result: &RunResult) -> String {
    let mut rows = vec![HEADINGS.map(str::to_owned).to_vec()];
    rows.extend(result.lines.iter().map(row));
    let width =
        |column: usize| rows.iter().map(|row| row.get(column).map_or(0, |cell| cell.chars().count())).max();
    let widths: Vec<usize> = (0..HEADINGS.len()).map(|column| width(column).unwrap_or(0)).collect();
    let mut text = String::new();
    for row in &rows {
        let cells = row.iter().zip(&widths).enumerate().map(|(column, (cell, width))| {
            if column == 0 { format!("{cell:width$}") } else { format!("{cell:>width$}") }
        });
        text += cells.collect::<Vec<_>>().join("  ").trim_end();
        text.push('\n');
    }
    for note in result.lines.iter().flat_map(notes) {
        text += &note;
        text.push('\n');
    }
    text
}

fn row(line: &LineResult) -> Vec<String> {
    let mut row = vec![line.name.clone()];
    if let Outcome::NotRun { .. } = line.outcome {
        row.push("not run".into());
        row.push(String::new());
        row.push(figure(line));
        return row;
    }
    let ms = |latency: &Option<Latency>, of: fn(&Latency) -> f64| {
        latency.as_ref().map_or_else(|| "-".into(), |latency| format!("{:.2}", of(latency)))
    };
    let produce = &line.produce_latency;
    row.push(format!("{:.0}", line.records_per_s()));
    row.push(format!("{:.1}", line.mb_per_s()));
    row.push(figure(line));
    row.push(ms(produce, |latency| latency.p50_ms));
    row.push(ms(produce, |latency| latency.p99_ms));
    row.push(ms(produce, |latency| latency.p999_ms));
    row.push(ms(produce, |latency| latency.p9999_ms));
    row.push(ms(produce, |latency| latency.max_ms));
    row.push(ms(&line.end_to_end_latency, |latency| latency.p50_ms));
    row.push(ms(&line.end_to_end_latency, |latency| latency.p99_ms));
    row.push(format!("{:.3}", line.client.cpu_us_per_record));
    row
}

fn figure(line: &LineResult) -> String {
    let figure = line.figure_2014.unwrap_or_default();
    match (figure.records_per_s, figure.p50_ms, figure.p99_ms) {
        (Some(per_s), _, _) => format!("{per_s:.0}"),
        (None, Some(p50), Some(p99)) => format!("e2e {p50}/{p99} ms"),
        _ => "-".into(),
    }
}

/// What a row has no room for.
pub(super) fn notes(line: &LineResult) -> Vec<String> {
    let mut notes = Vec::new();
    let mut note = |text: String| notes.push(format!("* {}: {text}", line.name));
    match &line.outcome {
        Outcome::Done => {}
        Outcome::NotRun { why } => note(format!("not run: {why}")),
        Outcome::Failed { why } => note(format!("FAILED: {why}")),
    }
    if line.client.is_limit {
        note("limited by the client: the load generator took more than half of the machine".into());
    }
    if let (Some(produced), Some(consumed)) = (&line.produced, &line.consumed) {
        note(format!(
            "{} msg/s were produced, {} consumed",
            short(produced.records_per_s),
            short(consumed.records_per_s)
        ));
    }
    if let Some(rate) = line.rate_target {
        let reached = line.produced.as_ref().map_or(0.0, |produced| produced.records_per_s);
        if reached < 0.97 * rate {
            note(format!("{} msg/s were asked for and not reached", short(rate)));
        }
    }
    if !line.ramp.is_empty() && !line.ramp.iter().any(|step| step.kept) {
        note("no rate kept the bound".into());
    }
    for step in &line.ramp {
        let verdict = if step.kept { "kept" } else { "not kept" };
        note(format!(
            "ramp {}/s: {}/s, p99 {:.2} ms, {verdict}",
            short(step.rate_target),
            short(step.records_per_s),
            step.p99_ms
        ));
    }
    let list = |counts: &std::collections::BTreeMap<String, u64>| {
        counts.iter().map(|(what, n)| format!("{what} {n}")).collect::<Vec<_>>().join(", ")
    };
    if !line.events.is_empty() {
        note(list(&line.events));
    }
    if !line.errors.is_empty() {
        note(format!("errors: {}", list(&line.errors)));
    }
    if let Some(verify) = &line.verify {
        let verdict = if verify.is_proven() { "verified" } else { "NOT VERIFIED" };
        note(format!(
            "{verdict}: {} acknowledged, {} read, {} missing, {} duplicated, {} reordered, {} altered, {} strayed, {:.1} s",
            verify.acked,
            verify.read,
            verify.missing,
            verify.duplicated,
            verify.reordered,
            verify.altered,
            verify.strayed,
            verify.seconds
        ));
        if let Some(why) = &verify.unfinished {
            note(format!("verification could not be finished: {why}"));
        }
        for fault in &verify.faults {
            note(format!("{} at offset {}: {}", fault.partition, fault.offset, fault.what));
        }
    }
    notes
}
