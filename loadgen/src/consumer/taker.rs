//! What is done with fetched batches.

use protocol::records::RecordBatch;

use crate::engine::{Stats, note};
use crate::payload::Stamp;
use crate::verify::Ledger;

/// Where fetched batches go.
#[derive(Debug)]
pub(crate) enum Taker {
    /// They are counted.
    Tally(Tally),
    /// They are proven.
    Ledger(Box<Ledger>),
}

/// How batches are counted.
#[derive(Debug, Clone)]
pub(crate) struct Tally {
    /// The run whose records tell their age.
    pub(crate) run: u32,
    /// Looks at every record; otherwise at a batch's header and first record, which is its oldest.
    pub(crate) each_record: bool,
    /// Bytes of every value, where they are all alike and records aren't looked at.
    pub(crate) value_bytes: Option<usize>,
}

impl Taker {
    /// Takes a batch of `slot`, of which records from `from` on count.
    pub(crate) fn take(&mut self, slot: u32, from: i64, batch: &RecordBatch, now_ns: u64, stats: &mut Stats) {
        match self {
            Self::Tally(tally) => tally.take(from, batch, now_ns, stats),
            Self::Ledger(ledger) => {
                ledger.take(slot, from, batch);
                stats.consumed.records += u64::from(batch.header().records_count.unsigned_abs());
            }
        }
    }

    /// Bytes that are no batches.
    pub(crate) fn damaged(&mut self, slot: u32, from: i64, why: &str, stats: &mut Stats) {
        stats.error("damaged batch");
        if let Self::Ledger(ledger) = self {
            ledger.damaged(slot, from, why);
        }
    }
}

impl Tally {
    fn take(&self, from: i64, batch: &RecordBatch, now_ns: u64, stats: &mut Stats) {
        let header = batch.header();
        stats.consumed.batches += 1;
        stats.consumed.batch_bytes += batch.total_bytes() as u64;
        if header.attributes.is_control() {
            return;
        }
        if self.each_record || self.value_bytes.is_none() {
            return self.take_each(from, batch, now_ns, stats);
        }
        // The front may have been read before.
        let skipped = (from - header.base_offset).max(0);
        let records = (i64::from(header.records_count) - skipped).max(0) as u64;
        stats.consumed.records += records;
        stats.consumed.value_bytes += records * self.value_bytes.unwrap_or(0) as u64;
        if let Some(Ok(first)) = batch.records().next() {
            self.note_age(first.value.as_deref(), now_ns, records, stats);
        }
    }

    fn take_each(&self, from: i64, batch: &RecordBatch, now_ns: u64, stats: &mut Stats) {
        for record in batch.records() {
            let Ok(record) = record else { return stats.error("damaged record") };
            if record.offset >= from {
                let value = record.value.as_deref();
                stats.consumed.records += 1;
                stats.consumed.value_bytes += value.map_or(0, <[u8]>::len) as u64;
                self.note_age(value, now_ns, 1, stats);
            }
        }
    }

    fn note_age(&self, value: Option<&[u8]>, now_ns: u64, records: u64, stats: &mut Stats) {
        let stamp = value.and_then(Stamp::peek).filter(|stamp| stamp.run == self.run);
        if let Some(stamp) = stamp {
            note(&mut stats.end_to_end_us, stamp.time_ns, now_ns, records);
        }
    }
}
