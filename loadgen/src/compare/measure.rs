//! From the results of all rounds to the lines of a comparison.

use super::{Curves, Line, Metric, Row, Summary};
use crate::result::{Flow, Latency, LineResult, Outcome};

/// The results of one side: the suite's lines, round by round.
pub(super) type Rounds = Vec<Vec<LineResult>>;

/// Brings both sides together. `counted` are the lines of the round in which system calls were counted, which is
/// none of `rounds`: counting slows what it counts.
pub(super) fn assemble(rounds: &[Rounds; 2], counted: &[Vec<LineResult>; 2]) -> Vec<Line> {
    let names = rounds.iter().flatten().flatten().map(|line| &line.name);
    let mut ordered: Vec<&String> = Vec::new();
    for name in names {
        if !ordered.contains(&name) {
            ordered.push(name);
        }
    }
    ordered.into_iter().map(|name| assemble_line(name, rounds, counted)).collect()
}

fn assemble_line(name: &str, rounds: &[Rounds; 2], counted: &[Vec<LineResult>; 2]) -> Line {
    let of_side = |side: usize| -> Vec<&LineResult> {
        rounds[side].iter().filter_map(|lines| lines.iter().find(|line| line.name == name)).collect()
    };
    let sides = [of_side(0), of_side(1)];
    let not_run = sides.iter().flatten().find_map(|line| why_not(line));
    let done = sides.clone().map(|lines| {
        lines.into_iter().filter(|line| line.outcome == Outcome::Done).collect::<Vec<&LineResult>>()
    });
    let mut rows = Vec::new();
    for metric in Metric::ALL {
        let summary = |side: usize| {
            let values = if metric == Metric::SyscallsPerThousand {
                let line = counted[side].iter().find(|line| line.name == name);
                line.and_then(|line| value(line, metric)).into_iter().collect()
            } else {
                done[side].iter().filter_map(|line| value(line, metric)).collect()
            };
            Summary::of(values)
        };
        let both = [summary(0), summary(1)];
        if both.iter().any(Option::is_some) {
            rows.push(Row { metric, sides: both });
        }
    }
    let rates = rows.iter().find(|row: &&Row| row.metric == Metric::MessagesPerS);
    let curves = [0, 1].map(|side| {
        let round = rates?.sides[side].as_ref()?.median_round();
        done[side].get(round).map(|line| curves(line))
    });
    let of_2014 = sides.iter().flatten().find_map(|line| line.figure_2014?.records_per_s);
    Line { name: name.to_owned(), not_run, rows, curves, msgs_per_s_2014: of_2014 }
}

fn why_not(line: &LineResult) -> Option<String> {
    match &line.outcome {
        Outcome::Done => None,
        Outcome::NotRun { why } => Some(why.clone()),
        Outcome::Failed { why } => Some(format!("failed: {why}")),
    }
}

/// One figure of one round; `None` where it was not measured.
fn value(line: &LineResult, metric: Metric) -> Option<f64> {
    let flow = line.produced.as_ref().or(line.consumed.as_ref()).filter(|flow| flow.records > 0)?;
    let thousands = flow.records as f64 / 1000.0;
    let latency = |of: fn(&Latency) -> f64| main_latency(line).map(of);
    // A ramp's figure is of its best step, the broker's of all steps.
    let broker = line.broker.as_ref().filter(|_| line.ramp.is_empty());
    match metric {
        Metric::MessagesPerS => Some(flow.records_per_s),
        Metric::MegabytesPerS => Some(flow.mb_per_s),
        Metric::P50Ms => latency(|latency| latency.p50_ms),
        Metric::P99Ms => latency(|latency| latency.p99_ms),
        Metric::P999Ms => latency(|latency| latency.p999_ms),
        Metric::CpuSPerGb => per_byte(broker?.cpu_s * 1e9, flow),
        Metric::RssMib => Some(broker?.rss_bytes as f64 / f64::from(1 << 20)),
        Metric::SwitchesPerThousand => {
            let broker = broker?;
            Some((broker.voluntary_switches + broker.involuntary_switches) as f64 / thousands)
        }
        Metric::WrittenPerByte => {
            let flow = line.produced.as_ref().filter(|flow| flow.records > 0)?;
            per_byte(broker?.written_bytes as f64, flow)
        }
        Metric::SyscallsPerThousand => Some(broker?.syscalls? as f64 / thousands),
    }
}

fn per_byte(total: f64, flow: &Flow) -> Option<f64> {
    (flow.value_bytes > 0).then(|| total / flow.value_bytes as f64)
}

/// The latency a reader of the line asks for.
fn main_latency(line: &LineResult) -> Option<&Latency> {
    line.end_to_end_latency.as_ref().or(line.produce_latency.as_ref()).or(line.fetch_latency.as_ref())
}

fn curves(line: &LineResult) -> Curves {
    let produces = line.produced.is_some();
    let rate = line
        .series
        .iter()
        .map(|second| (second.at_s, if produces { second.produced_per_s } else { second.consumed_per_s }));
    let latency = main_latency(line).map(|latency| &latency.curve[..]).unwrap_or_default();
    Curves {
        rate: rate.collect(),
        latency: latency.iter().map(|point| (point.percentile, point.ms)).collect(),
    }
}
