//! What was acknowledged survives, and what was truncated stays gone, whenever a crash comes. By seed:
//! `RINGLOG_SEEDS=n` runs n of them, `RINGLOG_SIM_SEED=s` only that one.
#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

mod common;
mod crash_model;

const SEEDS: u64 = 2_000;

/// Every second seed from `first` on: two tests, so that two cores share them.
fn every_second(first: u64) {
    let read = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    if let Some(only) = read("RINGLOG_SIM_SEED") {
        if only % 2 == first {
            crash_model::run_seed(only, crash_model::setup(only));
        }
        return;
    }
    for seed in (first..read("RINGLOG_SEEDS").unwrap_or(SEEDS)).step_by(2) {
        crash_model::run_seed(seed, crash_model::setup(seed));
    }
}

#[test]
fn nothing_acknowledged_is_lost_and_nothing_truncated_returns_with_even_seeds() {
    every_second(0);
}

#[test]
fn nothing_acknowledged_is_lost_and_nothing_truncated_returns_with_odd_seeds() {
    every_second(1);
}
