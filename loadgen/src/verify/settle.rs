//! What was acknowledged against what was read.

use super::{Acked, Ledger};
use crate::result::VerifyOutcome;
use crate::scenario::Delivery;

/// Compares. The ledgers' slots are disjoint.
pub(crate) fn settle(acked: Vec<Acked>, mut ledgers: Vec<Ledger>, delivery: Delivery) -> VerifyOutcome {
    let mut outcome = VerifyOutcome { delivery, ..VerifyOutcome::default() };
    let Some(mut ledger) = ledgers.pop() else {
        outcome.acked = acked.iter().map(|acked| acked.ranges.len()).sum();
        outcome.unfinished = Some("nothing was read".into());
        return outcome;
    };
    for other in ledgers {
        ledger.merge(other);
    }
    for Acked { producer, slot, sent, ranges } in acked {
        let seen = ledger.take_seen(slot, producer);
        outcome.acked += ranges.len();
        let (missing, first) = ranges.missing_in(&seen);
        if let Some(first) = first {
            outcome.missing += missing;
            ledger.fault(
                slot,
                -1,
                format!(
                    "{missing} acknowledged records of producer {producer} are missing, the first is {first}"
                ),
            );
        }
        let beyond = seen.iter().map(|(start, end)| end - start.max(sent).min(end)).sum::<u64>();
        if beyond > 0 {
            outcome.strayed += beyond;
            ledger.fault(slot, -1, format!("{beyond} records of producer {producer} were never sent"));
        }
    }
    for (slot, producer, records) in ledger.left() {
        outcome.strayed += records;
        ledger.fault(slot, -1, format!("{records} records of producer {producer}, which sent nothing here"));
    }
    outcome.read = ledger.read;
    outcome.duplicated = ledger.duplicated;
    outcome.reordered = ledger.reordered;
    outcome.altered = ledger.altered;
    outcome.strayed += ledger.strayed;
    if ledger.overflow {
        outcome.unfinished = Some("records are so far out of order that they can't be kept apart".into());
    }
    outcome.faults = ledger.faults;
    outcome
}
