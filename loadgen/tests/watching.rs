//! What a broker takes is told for the time that is measured, however short a line turns out.

#![allow(clippy::unwrap_used, reason = "a test's broker ends with its test")]

#[path = "fake/mod.rs"]
#[allow(dead_code, reason = "its faults are another test's")]
mod fake;

use fake::{Fake, Fault};
use loadgen::process::BrokerWatch;
use loadgen::result::{LineResult, Outcome};
use loadgen::scenario::{Line, ProduceSpec, Scenario, Target};
use loadgen::{Observer, Unobserved, run_observed};

/// Notes what it is told.
#[derive(Debug, Default)]
struct Notes(Vec<&'static str>);

impl Observer for Notes {
    fn load_begins(&mut self) {
        self.0.push("load");
    }

    fn window_begins(&mut self) {
        self.0.push("window");
    }

    fn window_is_whole_load(&mut self) {
        self.0.push("whole");
    }

    fn window_ended(&mut self, _: &mut LineResult) {
        self.0.push("ended");
    }
}

fn line(records: u64, warmup_s: f64, duration_s: f64) -> Line {
    let produce = ProduceSpec { records, batch_bytes: 16_384, ..ProduceSpec::default() };
    Line { produce: Some(produce), warmup_s, duration_s, ..Line::default() }
}

fn run(fake: &Fake, line: Line, observer: &mut dyn Observer) -> LineResult {
    let target = Target { shards: Some(1), ..Target::new(&fake.address()) };
    let mut result = run_observed(&Scenario::of_line(line), &target, observer).unwrap();
    assert_eq!(result.lines[0].outcome, Outcome::Done);
    result.lines.remove(0)
}

/// One test: each run takes the process's locked memory for its rings, and there is little.
#[test]
fn the_time_that_is_measured_is_the_time_that_is_watched() {
    let fake = Fake::start(1, Fault::None);
    let mut notes = Notes::default();
    let result = run(&fake, line(20_000, 30.0, 30.0), &mut notes);
    assert_eq!(
        (notes.0.as_slice(), result.produced.unwrap().records),
        (&["load", "whole", "ended"][..], 20_000)
    );
    let mut notes = Notes::default();
    run(&fake, line(0, 0.5, 1.0), &mut notes);
    assert_eq!(notes.0, ["load", "window", "ended"]);

    // The broker of this test is a thread of this process.
    let mut unobserved = Unobserved;
    let mut watch = BrokerWatch::new(std::process::id(), false, &mut unobserved);
    for line in [line(200_000, 30.0, 30.0), line(0, 0.5, 1.0)] {
        let result = run(&fake, line, &mut watch);
        let broker = result.broker.expect("its process is watched");
        assert!(broker.cpu_s > 0.0 && broker.rss_bytes > 1 << 20, "{broker:?}");
        assert!(broker.voluntary_switches > 0, "{broker:?}");
        let gb = result.produced.unwrap().value_bytes as f64 / 1e9;
        assert!((broker.cpu_s_per_gb * gb - broker.cpu_s).abs() < 1e-6, "{broker:?}");
    }
}
