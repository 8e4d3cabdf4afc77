//! Intended send times.

use super::super::schedule::Schedule;
use super::super::times::Times;
use crate::engine::Stats;

#[test]
fn an_open_loop_keeps_its_times_whatever_happens() {
    let mut schedule = Schedule::new(1000.0, 5_000_000);
    let mut times = Vec::new();
    for _ in 0..4 {
        times.push(schedule.next_ns().unwrap());
        schedule.advance();
    }
    assert_eq!(times, [5_000_000, 6_000_000, 7_000_000, 8_000_000]);
    // Hours later it is still exact.
    let mut late = Schedule::new(3.0, 0);
    (0..3_000_000).for_each(|_| late.advance());
    assert_eq!(late.next_ns(), Some(1_000_000_000_000_000));
    assert_eq!(Schedule::new(0.0, 0).next_ns(), None);
}

#[test]
fn every_record_of_a_batch_has_its_own_latency() {
    let mut times = Times::new(0);
    for ns in [1_000_000, 1_000_000, 3_000_000] {
        times.push(ns);
    }
    assert_eq!((times.len(), times.at(1), times.at(2)), (3, 1_000_000, 3_000_000));
    let mut stats = Stats::default();
    times.note_all(&mut stats.produce_us, 4_000_000);
    assert_eq!((stats.produce_us.len(), stats.produce_us.min()), (3, 1000));
    assert!(stats.produce_us.max().abs_diff(3000) <= 3);
}
