//! What was acknowledged survives, and what was truncated stays gone, whenever a crash comes. By seed:
//! `RINGLOG_SEEDS=n` runs n of them, `RINGLOG_SIM_SEED=s` only that one.
#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

mod common;
mod crash_model;

const SEEDS: u64 = 2_000;

/// Of twenty seeds so many are about many logs at once; the others about two, with all that can be done to one.
const CROWDS: u64 = 4;

fn run_seed(seed: u64) {
    match seed % 20 < CROWDS {
        true => crash_model::crowd::run_seed(seed, seed / 20 * CROWDS + seed % 20, None),
        false => crash_model::run_seed(seed, crash_model::setup(seed)),
    }
}

/// Every second seed from `first` on: two tests, so that two cores share them.
fn every_second(first: u64) {
    let read = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    if let Some(only) = read("RINGLOG_SIM_SEED") {
        if only % 2 == first {
            run_seed(only);
        }
        return;
    }
    for seed in (first..read("RINGLOG_SEEDS").unwrap_or(SEEDS)).step_by(2) {
        run_seed(seed);
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
