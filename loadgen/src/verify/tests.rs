//! Ranges and ledgers.

use std::collections::BTreeSet;
use std::sync::Arc;

use proptest::prelude::*;
use protocol::records::{BatchBuilder, RecordBatch};

use super::*;
use crate::engine::Layout;
use crate::payload::Stamp;
use crate::result::VerifyOutcome;
use crate::scenario::Delivery;

proptest! {
    #[test]
    fn ranges_are_a_set(inserts in proptest::collection::vec((0_u64..60, 0_u64..8), 0..40)) {
        let (mut ranges, mut set) = (Ranges::default(), BTreeSet::new());
        for (start, len) in inserts {
            ranges.insert(start, start + len);
            set.extend(start..start + len);
        }
        prop_assert_eq!(ranges.len(), set.len() as u64);
        (0..70).for_each(|number| assert_eq!(ranges.contains(number), set.contains(&number)));
        prop_assert!(ranges.iter().collect::<Vec<_>>().is_sorted_by(|a, b| a.1 < b.0));
        let mut all = Ranges::default();
        all.insert(0, 70);
        let missing: Vec<u64> = (0..70).filter(|number| !set.contains(number)).collect();
        prop_assert_eq!(all.missing_in(&ranges), (missing.len() as u64, missing.first().copied()));
        prop_assert_eq!(ranges.missing_in(&all), (0, None));
    }
}

fn layout() -> Arc<Layout> {
    let mut layout = Layout::default();
    layout.add("t".into(), Default::default(), 2);
    Arc::new(layout)
}

fn value(run: u32, slot: u32, sequence: u64) -> Vec<u8> {
    let mut value = vec![9; 40];
    Stamp { run, producer: 3, slot, sequence, time_ns: 1 }.write(&mut value);
    value
}

fn batch(values: &[Vec<u8>], base: i64) -> RecordBatch {
    let mut builder = BatchBuilder::new().base_offset(base);
    values.iter().for_each(|value| builder.push(0, None, Some(value), &[]));
    RecordBatch::parse(builder.build().unwrap()).unwrap()
}

/// Sends 0..10 to slot 1, all acknowledged but the last; what `change` makes of them is read.
fn outcome(delivery: Delivery, change: impl FnOnce(&mut Vec<Vec<u8>>)) -> VerifyOutcome {
    let mut values: Vec<_> = (0..10).map(|sequence| value(7, 1, sequence)).collect();
    change(&mut values);
    let mut ledger = Ledger::new(Rules { run: 7, is_ordered: true }, layout());
    ledger.take(1, 100, &batch(&values, 100));
    let mut ranges = Ranges::default();
    ranges.insert(0, 9);
    settle(vec![Acked { producer: 3, slot: 1, sent: 10, ranges }], vec![ledger], delivery)
}

#[test]
fn a_whole_run_passes_with_or_without_what_was_not_acknowledged() {
    for kept in [9, 10] {
        let outcome = outcome(Delivery::Once, |values| values.truncate(kept));
        assert!(outcome.is_proven(), "{outcome:?}");
        assert_eq!((outcome.acked, outcome.read), (9, kept as u64));
    }
}

#[test]
fn every_fault_shows() {
    let dropped = outcome(Delivery::Once, |values| drop(values.remove(4)));
    assert_eq!((dropped.missing, dropped.is_proven()), (1, false));
    assert!(dropped.faults[0].what.contains("the first is 4"), "{:?}", dropped.faults);
    let twice = |values: &mut Vec<Vec<u8>>| values.insert(5, values[4].clone());
    assert_eq!(outcome(Delivery::Once, twice).duplicated, 1);
    assert!(!outcome(Delivery::Once, twice).is_proven());
    assert!(outcome(Delivery::AtLeastOnce, twice).is_proven());
    let swapped = outcome(Delivery::Once, |values| values.swap(2, 3));
    assert_eq!((swapped.reordered, swapped.missing, swapped.is_proven()), (1, 0, false));
    let altered = outcome(Delivery::Once, |values| values[6][35] ^= 1);
    assert_eq!((altered.altered, altered.missing, altered.is_proven()), (1, 1, false));
    assert_eq!((altered.faults[0].partition.as_str(), altered.faults[0].offset), ("t-1", 106));
    let strayed = outcome(Delivery::Once, |values| values.push(value(7, 0, 10)));
    assert_eq!((strayed.strayed, strayed.is_proven()), (1, false));
    let invented = outcome(Delivery::Once, |values| values.push(value(7, 1, 10)));
    assert_eq!((invented.strayed, invented.is_proven()), (1, false));
}

#[test]
fn other_runs_are_nobodys_business() {
    let outcome = outcome(Delivery::Once, |values| values.insert(3, value(8, 0, 77)));
    assert!(outcome.is_proven() && outcome.read == 10, "{outcome:?}");
}

#[test]
fn what_was_read_before_is_not_read_again() {
    let mut ledger = Ledger::new(Rules { run: 7, is_ordered: true }, layout());
    let values: Vec<_> = (0..4).map(|sequence| value(7, 1, sequence)).collect();
    ledger.take(1, 0, &batch(&values, 0));
    ledger.take(1, 4, &batch(&values, 0));
    assert_eq!((ledger.read, ledger.duplicated), (4, 0));
    ledger.take(1, 4, &batch(&values, 4));
    assert_eq!((ledger.read, ledger.duplicated), (8, 4));
}
