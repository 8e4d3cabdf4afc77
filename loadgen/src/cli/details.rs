//! One line's result, in full.

use super::progress::short;
use super::table::notes;
use crate::result::{Flow, Latency, LineResult};

/// A few lines of text.
pub(super) fn details(line: &LineResult) -> String {
    let mut text = format!("measured    {:.2} s\n", line.measured_s);
    for (name, flow) in [("produced", &line.produced), ("consumed", &line.consumed)] {
        text += &flow.as_ref().map_or_else(String::new, |flow| flowed(name, flow));
    }
    let latencies = [
        ("produce", &line.produce_latency),
        ("fetch", &line.fetch_latency),
        ("end-to-end", &line.end_to_end_latency),
    ];
    for (name, latency) in latencies {
        text += &latency.as_ref().map_or_else(String::new, |latency| waited(name, latency));
    }
    let client = &line.client;
    text += &format!(
        "client      {:.2} CPU-s on {} shards, {:.3} us a record\n",
        client.cpu_s, client.shards, client.cpu_us_per_record
    );
    for note in notes(line) {
        text += note.strip_prefix("* ").unwrap_or(&note);
        text.push('\n');
    }
    text
}

fn flowed(name: &str, flow: &Flow) -> String {
    format!(
        "{name:12}{:.0} msg/s, {:.1} MB/s; {} records in {} batches, {} requests\n",
        flow.records_per_s,
        flow.mb_per_s,
        short(flow.records as f64),
        short(flow.batches as f64),
        short(flow.requests as f64)
    )
}

fn waited(name: &str, latency: &Latency) -> String {
    let Latency { p50_ms, p95_ms, p99_ms, p999_ms, p9999_ms, max_ms, .. } = latency;
    format!(
        "{name:12}p50 {p50_ms:.2} ms, p95 {p95_ms:.2}, p99 {p99_ms:.2}, p99.9 {p999_ms:.2}, p99.99 {p9999_ms:.2}, max {max_ms:.2}\n"
    )
}
