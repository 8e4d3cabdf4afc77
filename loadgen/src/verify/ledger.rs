//! What was read back.

use std::collections::BTreeMap;
use std::sync::Arc;

use protocol::records::RecordBatch;

use super::Ranges;
use crate::engine::Layout;
use crate::payload::Stamp;
use crate::result::Fault;

/// What a ledger holds records to.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rules {
    /// Only records of this run count.
    pub(crate) run: u32,
    /// A record may not stand before one that was sent earlier. Not promised to producers without idempotence that
    /// send again with several requests in flight.
    pub(crate) is_ordered: bool,
}

/// The records of one run that were read so far, and what is wrong with them.
#[derive(Debug)]
pub(crate) struct Ledger {
    rules: Rules,
    layout: Arc<Layout>,
    /// By slot and producer.
    seen: BTreeMap<(u32, u32), Ranges>,
    pub(crate) read: u64,
    pub(crate) duplicated: u64,
    pub(crate) reordered: u64,
    pub(crate) altered: u64,
    pub(crate) strayed: u64,
    /// Set once it can't keep more.
    pub(crate) overflow: bool,
    /// Ranges kept so far beyond one for each slot and producer.
    pub(crate) faults: Vec<Fault>,
}

/// Faults told in words.
pub(crate) const FAULTS_MAX: usize = 20;
/// Ranges of one slot and producer; records that come in any order need many.
const PIECES_MAX: usize = 1_000_000;

impl Ledger {
    pub(crate) fn new(rules: Rules, layout: Arc<Layout>) -> Self {
        Self {
            rules,
            layout,
            seen: BTreeMap::new(),
            read: 0,
            duplicated: 0,
            reordered: 0,
            altered: 0,
            strayed: 0,
            overflow: false,
            faults: Vec::new(),
        }
    }

    /// Takes the records of a batch of `slot` from offset `from` on.
    pub(crate) fn take(&mut self, slot: u32, from: i64, batch: &RecordBatch) {
        if batch.header().attributes.is_control() {
            return;
        }
        for record in batch.records() {
            match record {
                Ok(record) if record.offset < from => {}
                Ok(record) => self.record(slot, record.offset, record.value.as_deref().unwrap_or_default()),
                Err(error) => {
                    self.altered += 1;
                    return self.fault(slot, batch.header().base_offset, error.to_string());
                }
            }
        }
    }

    /// Bytes at `offset` that are no batch.
    pub(crate) fn damaged(&mut self, slot: u32, offset: i64, why: &str) {
        self.altered += 1;
        self.fault(slot, offset, why.to_owned());
    }

    fn record(&mut self, slot: u32, offset: i64, value: &[u8]) {
        if !Stamp::is_whole(value) {
            // Somebody else's, unless it says that it is this run's.
            if Stamp::peek(value).is_none_or(|stamp| stamp.run == self.rules.run) {
                self.altered += 1;
                self.fault(slot, offset, "its checksum doesn't hold".into());
            }
            return;
        }
        let Some(stamp) = Stamp::peek(value).filter(|stamp| stamp.run == self.rules.run) else { return };
        self.read += 1;
        let Stamp { producer, sequence, .. } = stamp;
        if stamp.slot != slot {
            self.strayed += 1;
            let place = if stamp.slot < self.layout.slots() {
                self.layout.name(stamp.slot)
            } else {
                "nowhere".into()
            };
            return self.fault(
                slot,
                offset,
                format!("record {sequence} of producer {producer} was sent to {place}"),
            );
        }
        let seen = self.seen.entry((slot, producer)).or_default();
        let highest = seen.iter().last().map(|(_, end)| end);
        if seen.contains(sequence) {
            self.duplicated += 1;
            self.fault(slot, offset, format!("record {sequence} of producer {producer} is there again"));
        } else if self.rules.is_ordered && highest.is_some_and(|highest| sequence < highest) {
            seen.insert(sequence, sequence + 1);
            self.reordered += 1;
            self.fault(
                slot,
                offset,
                format!("record {sequence} of producer {producer} stands behind a later one"),
            );
        } else {
            seen.insert(sequence, sequence.saturating_add(1));
            self.overflow |= seen.pieces() > PIECES_MAX;
        }
    }

    pub(super) fn fault(&mut self, slot: u32, offset: i64, what: String) {
        if self.faults.len() < FAULTS_MAX {
            self.faults.push(Fault { partition: self.layout.name(slot), offset, what });
        }
    }

    /// What was seen of a producer in a slot.
    pub(super) fn take_seen(&mut self, slot: u32, producer: u32) -> Ranges {
        self.seen.remove(&(slot, producer)).unwrap_or_default()
    }

    /// What is left of it.
    pub(super) fn left(&self) -> Vec<(u32, u32, u64)> {
        self.seen.iter().map(|((slot, producer), seen)| (*slot, *producer, seen.len())).collect()
    }

    pub(super) fn merge(&mut self, other: Self) {
        self.seen.extend(other.seen);
        self.read += other.read;
        self.duplicated += other.duplicated;
        self.reordered += other.reordered;
        self.altered += other.altered;
        self.strayed += other.strayed;
        self.overflow |= other.overflow;
        let room = FAULTS_MAX.saturating_sub(self.faults.len());
        self.faults.extend(other.faults.into_iter().take(room));
    }
}
