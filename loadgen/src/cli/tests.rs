//! Flags, and what is printed.

use clap::Parser;

use super::args::Command;
use super::details::details;
use super::progress::{short, text};
use super::table::table;
use super::*;
use crate::observe::{Phase, Progress};
use crate::result::{Figure, Flow, LineResult, RunResult, Second, VerifyOutcome};
use crate::scenario::{Acks, Build, Delivery, Keys, Sizes};

#[derive(Debug, Parser)]
struct Cli {
    #[command(flatten)]
    bench: BenchArgs,
}

fn line(flags: &str) -> crate::scenario::Line {
    let args = std::iter::once("loadgen").chain(flags.split_whitespace());
    let bench = Cli::try_parse_from(args).unwrap().bench;
    let scenario = match &bench.command {
        Some(Command::Run(run)) => run.scenario(),
        _ => bench.run.scenario(),
    };
    scenario.check().unwrap();
    scenario.lines[0].clone()
}

#[test]
fn flags_are_a_line() {
    let plain = line("");
    assert_eq!(
        (plain.produce.unwrap().records, plain.consume, plain.warmup_s, plain.topic.keep),
        (1_000_000, None, 0.0, false)
    );
    let flags = "run -t mine -n 5 -s 50-200 -a 1 -z zstd -f 2 --keys zipf:10:1.5 --verify -c 2 --groups 1 --partitions 3";
    let all = line(flags);
    let produce = all.produce.unwrap();
    assert_eq!((produce.records, produce.acks, produce.in_flight), (5, Acks::Leader, 2));
    assert_eq!(produce.record_bytes, Sizes::Between { min: 50, max: 200 });
    assert_eq!(produce.keys, Keys::Zipf { keys: 10, exponent: 1.5 });
    assert_eq!((all.verify, all.topic.keep), (Some(Delivery::Once), true));
    assert_eq!(all.consume.map(|consume| (consume.consumers, consume.groups)), Some((2, 1)));
    let timed = line("-d 10 --rate 500 --prebuilt");
    let produce = timed.produce.unwrap();
    assert_eq!((produce.records, produce.rate_per_s, produce.build), (0, 500.0, Build::Prebuilt));
    assert_eq!((timed.duration_s, timed.warmup_s), (10.0, 1.0));
    assert_eq!(line("--verify at-least-once --acks 1").verify, Some(Delivery::AtLeastOnce));
    assert_eq!(line("--p99-max 5").ramp.unwrap().p99_max_ms, 5.0);
}

#[test]
fn bad_flags_are_refused() {
    for flags in [
        "--keys zipf",
        "--keys uniform:x",
        "--keys hot:1:0.5:3",
        "-s 10-",
        "-s 1=",
        "-z lzma",
        "-a 2",
        "suite",
        "suite omb --scale 2",
    ] {
        let args = std::iter::once("loadgen").chain(flags.split_whitespace());
        assert!(Cli::try_parse_from(args).is_err(), "{flags}");
    }
    assert_eq!(parse::sizes("100=70,500=30"), Ok(Sizes::Weighted(vec![(100, 70.0), (500, 30.0)])));
}

#[test]
fn progress_is_one_line() {
    let second =
        Second { produced_per_s: 1_234_567.0, mb_per_s: 123.4, produce_p99_ms: 2.5, ..Second::default() };
    let text = text(&Progress { phase: Phase::Measured, done: 0.5, second });
    assert_eq!(text, "[##########..........] measuring out 1.23 M/s 123.4 MB/s p50 0.00 p99 2.50 ms");
    assert_eq!(short(999.0), "999");
}

#[test]
fn a_table_has_every_line_and_says_what_is_wrong() {
    let mut done = LineResult {
        name: "done".into(),
        produced: Some(Flow { records: 1000, value_bytes: 100_000, ..Flow::default() }.over(1.0)),
        figure_2014: Some(Figure { records_per_s: Some(821_557.0), ..Figure::default() }),
        verify: Some(VerifyOutcome { missing: 3, ..VerifyOutcome::default() }),
        ..LineResult::default()
    };
    done.client.is_limit = true;
    let lines = vec![done, LineResult::not_run("three", "it needs 3 brokers")];
    let text = table(&RunResult { lines: lines.clone(), ..RunResult::default() });
    for part in
        ["821557", "not run: it needs 3 brokers", "limited by the client", "NOT VERIFIED", "3 missing"]
    {
        assert!(text.contains(part), "{part}: {text}");
    }
    let text = details(&lines[0]);
    assert!(text.contains("1000 msg/s, 0.1 MB/s") && text.contains("NOT VERIFIED"), "{text}");
}
