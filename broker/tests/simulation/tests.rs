//! The runs.

use std::cell::RefCell;

use rt::sim::for_each_seed;

use crate::play::{Outcome, play};

/// Seeds of the short form and of the long one; `RINGLOG_SIM_SEEDS` sets another number (tests/README.md).
const SEEDS: [u64; 2] = [40, 400];

fn seeds() -> u64 {
    SEEDS[usize::from(std::env::var("RINGLOG_LONG").is_ok_and(|long| !long.is_empty()))]
}

#[test]
fn whatever_happens_no_promise_is_broken() {
    let total = RefCell::new(Outcome::default());
    for_each_seed(seeds(), |seed| {
        let outcome = play(seed);
        let mut total = total.borrow_mut();
        total.acked += outcome.acked;
        total.commits += outcome.commits;
        total.generations += outcome.generations;
    });
    let total = total.into_inner();
    println!("{total:?}");
    // Runs in which nothing is acknowledged would pass any check. One alone may be so.
    let is_alone = std::env::var_os("RINGLOG_SIM_SEED").is_some();
    assert!(
        is_alone || total.acked > 0 && total.commits > 0 && total.generations > 0,
        "nothing happened: {total:?}"
    );
}

#[test]
fn the_same_seed_takes_the_same_way() {
    assert_eq!(play(1), play(1));
    assert_ne!(play(1).trace_hash, play(2).trace_hash);
}
