//! `--verify` against a broker that works, and against one that doesn't: every fault is caught, by its name.

#![allow(clippy::unwrap_used, reason = "a test's broker ends with its test")]

#[path = "fake/mod.rs"]
mod fake;

use std::process::Command;

use fake::{Fake, Fault};
use loadgen::result::{LineResult, Outcome, VerifyOutcome};
use loadgen::scenario::{
    Acks, Codec, ConsumeSpec, Delivery, Keys, Line, ProduceSpec, Scenario, Sizes, Target, TopicSpec,
};
use protocol::records::Compression;

const RECORDS: u64 = 5000;

fn line() -> Line {
    Line {
        topic: TopicSpec { partitions: 3, ..TopicSpec::default() },
        produce: Some(ProduceSpec {
            producers: 2,
            records: RECORDS,
            batch_bytes: 4096,
            ..ProduceSpec::default()
        }),
        duration_s: 60.0,
        warmup_s: 0.0,
        verify: Some(Delivery::Once),
        ..Line::default()
    }
}

fn run(fake: &Fake, line: Line) -> LineResult {
    let target = Target { shards: Some(2), ..Target::new(&fake.address()) };
    let mut result = loadgen::run(&Scenario::of_line(line), &target).expect("the fake broker can be reached");
    result.lines.remove(0)
}

fn verified(fake: &Fake, line: Line) -> VerifyOutcome {
    let result = run(fake, line);
    assert_eq!(result.outcome, Outcome::Done, "{result:?}");
    result.verify.expect("it was asked for")
}

/// One test: each run takes the process's locked memory for its rings, and there is little.
#[test]
fn every_fault_is_caught_and_a_correct_broker_passes() {
    a_correct_broker_passes_every_kind_of_load();
    a_broker_that_drops_is_caught();
    a_broker_that_duplicates_is_caught();
    a_broker_that_reorders_is_caught();
    a_broker_that_alters_is_caught();
    a_broker_that_misplaces_is_caught();
    connections_that_break_lose_nothing();
    errors_that_pass_are_survived();
    the_exit_code_tells();
}

fn a_correct_broker_passes_every_kind_of_load() {
    let base = line();
    let produce = base.produce.clone().unwrap();
    let mut lines = vec![base.clone()];
    let with = |produce: ProduceSpec| Line { produce: Some(produce), ..line() };
    for codec in Compression::ALL {
        lines.push(with(ProduceSpec {
            compression: Codec(codec),
            keys: Keys::Uniform(50),
            ..produce.clone()
        }));
    }
    lines.push(with(ProduceSpec {
        idempotent: true,
        record_bytes: Sizes::Between { min: 32, max: 900 },
        ..produce.clone()
    }));
    lines.push(with(ProduceSpec {
        rate_per_s: 20_000.0,
        linger_ms: 3.0,
        keys: Keys::Zipf { keys: 9, exponent: 1.0 },
        ..produce.clone()
    }));
    lines.push(with(ProduceSpec { acks: Acks::Leader, in_flight: 1, ..produce.clone() }));
    lines.push(Line { consume: Some(ConsumeSpec { consumers: 2, ..ConsumeSpec::default() }), ..base });
    for line in lines {
        let what = format!("{line:?}");
        let fake = Fake::start(3, Fault::None);
        let outcome = verified(&fake, line);
        assert!(outcome.is_proven(), "{what}: {outcome:?}");
        assert_eq!((outcome.acked, outcome.read), (RECORDS, RECORDS), "{what}");
    }
}

fn a_broker_that_drops_is_caught() {
    let outcome = verified(&Fake::start(3, Fault::Drop), line());
    assert!(!outcome.is_proven() && outcome.missing > 0, "{outcome:?}");
    assert_eq!(outcome.missing + outcome.read, RECORDS);
    assert_eq!((outcome.duplicated, outcome.reordered, outcome.altered), (0, 0, 0));
}

fn a_broker_that_duplicates_is_caught() {
    let outcome = verified(&Fake::start(3, Fault::Duplicate), line());
    assert!(!outcome.is_proven() && outcome.duplicated > 0, "{outcome:?}");
    assert_eq!((outcome.missing, outcome.altered), (0, 0));
    let at_least_once = Line { verify: Some(Delivery::AtLeastOnce), ..line() };
    let outcome = verified(&Fake::start(3, Fault::Duplicate), at_least_once);
    assert!(outcome.is_proven() && outcome.duplicated > 0, "{outcome:?}");
}

fn a_broker_that_reorders_is_caught() {
    let outcome = verified(&Fake::start(3, Fault::Reorder), line());
    assert!(!outcome.is_proven() && outcome.reordered > 0, "{outcome:?}");
    assert_eq!((outcome.missing, outcome.duplicated, outcome.altered), (0, 0, 0));
}

fn a_broker_that_alters_is_caught() {
    let outcome = verified(&Fake::start(3, Fault::Alter), line());
    assert!(!outcome.is_proven() && outcome.altered > 0, "{outcome:?}");
    assert_eq!((outcome.duplicated, outcome.reordered), (0, 0));
    // An altered record isn't the one that was sent.
    assert_eq!(outcome.missing, outcome.altered);
}

fn a_broker_that_misplaces_is_caught() {
    let outcome = verified(&Fake::start(3, Fault::Misplace), line());
    assert!(!outcome.is_proven() && outcome.strayed > 0 && outcome.missing == outcome.strayed, "{outcome:?}");
}

/// The broker takes a batch, says nothing, and closes: an idempotent producer sends again, once it is.
fn connections_that_break_lose_nothing() {
    let mut broken = line();
    broken.produce.as_mut().unwrap().idempotent = true;
    let result = run(&Fake::start(3, Fault::Disconnect), broken);
    let outcome = result.verify.clone().unwrap();
    assert!(outcome.is_proven() && outcome.acked == RECORDS, "{result:?}");
    assert!(result.errors["disconnect"] > 0, "{:?}", result.errors);
    // Without idempotence the same broker has some twice, and nothing else is wrong.
    let again = Line { verify: Some(Delivery::AtLeastOnce), ..line() };
    let outcome = verified(&Fake::start(3, Fault::Disconnect), again);
    assert!(outcome.is_proven() && outcome.duplicated > 0 && outcome.acked == RECORDS, "{outcome:?}");
}

fn errors_that_pass_are_survived() {
    let mut refused = line();
    refused.produce.as_mut().unwrap().idempotent = true;
    let result = run(&Fake::start(3, Fault::Refuse), refused);
    let outcome = result.verify.clone().unwrap();
    assert!(outcome.is_proven() && outcome.acked == RECORDS, "{result:?}");
    assert!(result.errors["NOT_LEADER_OR_FOLLOWER"] > 0, "{:?}", result.errors);
}

fn the_exit_code_tells() {
    let code = |fake: &Fake| {
        let binary = env!("CARGO_BIN_EXE_ringlog-loadgen");
        let address = fake.address();
        let args = ["run", "-b", &address, "-n", "2000", "--partitions", "3", "--shards", "1", "--verify"];
        let output = Command::new(binary).args(args).output().unwrap();
        (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned())
    };
    let (passed, text) = code(&Fake::start(3, Fault::None));
    assert_eq!(passed, Some(0), "{text}");
    let (failed, text) = code(&Fake::start(3, Fault::Alter));
    assert_eq!(failed, Some(2), "{text}");
    assert!(text.contains("NOT VERIFIED"), "{text}");
}
