//! Ticks and ramps.

use super::ramp::Ramp;
use super::ticks::Ticks;
use crate::engine::Stats;
use crate::scenario::RampSpec;

/// Ramps against a broker that keeps its bound up to `limit`; gives the rates tried and the best.
fn climb(limit: f64, spec: RampSpec) -> (Vec<f64>, Option<f64>) {
    let mut ramp = Ramp::new(spec.clone());
    let mut rate = Some(spec.start_per_s);
    while let Some(tried) = rate {
        let (reached, p99_ms) = if tried <= limit { (tried, 1.0) } else { (limit, 500.0) };
        let step = ramp.judge(tried, reached, p99_ms);
        rate = ramp.next(step);
    }
    let best = ramp.steps.iter().filter(|step| step.kept).map(|step| step.rate_target).reduce(f64::max);
    (ramp.steps.iter().map(|step| step.rate_target).collect(), best)
}

#[test]
fn a_ramp_finds_the_highest_rate() {
    let spec = RampSpec { start_per_s: 100.0, factor: 2.0, refine: 3, ..RampSpec::default() };
    assert_eq!(
        climb(1000.0, spec.clone()),
        (vec![100.0, 200.0, 400.0, 800.0, 1600.0, 1200.0, 1000.0, 1100.0], Some(1000.0))
    );
    // Too much from the beginning: it goes down.
    assert_eq!(climb(30.0, spec.clone()), (vec![100.0, 50.0, 25.0, 37.5], Some(25.0)));
    assert_eq!(climb(1.0, spec.clone()).1, None);
    // A broker without a limit doesn't make it endless.
    assert!(climb(f64::INFINITY, RampSpec { factor: 1.0001, ..spec }).0.len() <= 60);
}

#[test]
fn a_rate_that_is_not_reached_is_not_kept() {
    let ramp = Ramp::new(RampSpec::default());
    assert!(ramp.judge(1000.0, 990.0, 1.0).kept);
    assert!(!ramp.judge(1000.0, 900.0, 1.0).kept);
    assert!(!ramp.judge(1000.0, 1000.0, 21.0).kept);
}

#[test]
fn a_tick_is_whole_when_every_shard_has_told_it() {
    let mut one = Stats::default();
    one.produced.records = 5;
    one.error("x");
    let mut ticks = Ticks::new(2);
    assert!(ticks.take(0, &one).is_none());
    assert!(ticks.take(1, &one).is_none());
    let (index, stats) = ticks.take(0, &one).unwrap();
    assert_eq!((index, stats.produced.records, stats.errors["x"]), (0, 10, 2));
    let rest: Vec<u64> = ticks.rest().map(|(index, _)| index).collect();
    assert_eq!(rest, [1]);
}
