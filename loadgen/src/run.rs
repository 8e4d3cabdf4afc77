//! A scenario from beginning to end.

use crate::observe::{Observer, Unobserved};
use crate::result::{Flow, Latency, LineResult, Outcome, RunResult, TargetInfo, VerifyOutcome};
use crate::scenario::{Acks, Build, Delivery, Keys, Line, Scenario, Target};
use crate::{BenchArgs, LoadError, Report};

/// Runs all lines of a scenario against a target, one after the other.
///
/// # Errors
/// What makes the whole run senseless: a scenario that is none, no broker there. A line that fails says so in its
/// own result, and the next one is tried.
pub fn run(scenario: &Scenario, target: &Target) -> Result<RunResult, LoadError> {
    run_observed(scenario, target, &mut Unobserved)
}

/// As [`run`], telling `observer` as it goes.
///
/// # Errors
/// As [`run`].
pub fn run_observed(
    scenario: &Scenario,
    target: &Target,
    observer: &mut dyn Observer,
) -> Result<RunResult, LoadError> {
    scenario.check()?;
    let mut result = RunResult {
        scenario: scenario.name.clone(),
        target: TargetInfo {
            name: target.name.clone(),
            bootstrap: target.bootstrap.clone(),
            ..TargetInfo::default()
        },
        started_unix_ms: rt::unix_ms(),
        scale: scenario.scale,
        ..RunResult::default()
    };
    let started = rt::now();
    for line in &scenario.lines {
        observer.line_begins(line);
        let mut measured = closed_loop(line, target, observer);
        measured.figure_2014 = line.figure_2014;
        observer.line_ended(&measured);
        result.lines.push(measured);
    }
    result.duration_s = (rt::now() - started).as_secs_f64();
    Ok(result)
}

/// What the blocking loop can do: one producer without keys, as fast as it goes.
fn closed_loop(line: &Line, target: &Target, observer: &mut dyn Observer) -> LineResult {
    let Some(args) = bench_args(line) else {
        return LineResult::not_run(
            &line.name,
            "this load generator has one producer in a closed loop so far",
        );
    };
    observer.window_begins();
    let mut result = match crate::bench(&target.bootstrap, &args) {
        Ok(report) => filled(line, &report),
        Err(error) => LineResult {
            outcome: Outcome::Failed { why: error.to_string() },
            ..LineResult::not_run(&line.name, "")
        },
    };
    observer.window_ended(&mut result);
    result
}

fn bench_args(line: &Line) -> Option<BenchArgs> {
    let produce = line.produce.as_ref()?;
    let plain = produce.records > 0
        && produce.producers == 1
        && produce.rate_per_s == 0.0
        && produce.keys == Keys::None
        && produce.build == Build::Records
        && !produce.idempotent
        && line.topic.topics == 1
        && line.consume.is_none()
        && line.brokers_min <= 1;
    let record_bytes = produce.record_bytes.fixed().filter(|_| plain)?;
    Some(BenchArgs {
        topic: line.topic.names(&format!("loadgen-{}", rt::unix_ms())).remove(0),
        partitions: Some(line.topic.partitions).filter(|count| *count > 0),
        replication_factor: Some(line.topic.replication).filter(|count| *count > 0),
        records: produce.records,
        record_bytes,
        batch_bytes: produce.batch_bytes,
        in_flight: produce.in_flight,
        acks: match produce.acks {
            Acks::None => return None,
            Acks::Leader => crate::Acks::Leader,
            Acks::All => crate::Acks::All,
        },
        compression: produce.compression.0,
        verify: line.verify.is_some(),
    })
}

fn filled(line: &Line, report: &Report) -> LineResult {
    let seconds = report.produce_time.as_secs_f64();
    let flow = Flow {
        records: report.records,
        value_bytes: report.value_bytes,
        batch_bytes: report.batch_bytes,
        batches: report.batches,
        requests: report.batches,
        ..Flow::default()
    };
    let ms = |us: u64| us as f64 / 1000.0;
    LineResult {
        name: line.name.clone(),
        measured_s: seconds,
        produced: Some(flow.over(seconds)),
        produce_latency: Some(Latency {
            count: report.records,
            p50_ms: ms(report.p50_us),
            p99_ms: ms(report.p99_us),
            p999_ms: ms(report.p999_us),
            max_ms: ms(report.max_us),
            ..Latency::default()
        }),
        verify: report.verify_time.map(|time| VerifyOutcome {
            delivery: Delivery::Once,
            acked: report.records,
            read: report.records,
            seconds: time.as_secs_f64(),
            ..VerifyOutcome::default()
        }),
        ..LineResult::default()
    }
}
