//! Epochs, sequences and the last batches of each producer of a log.

use std::collections::{BTreeMap, VecDeque};

use crate::limits::{PRODUCER_BATCHES_MAX, PRODUCERS_MAX};
use crate::{AppendError, Offset};

/// What a batch says of its producer: the part of its header that sequence checks need.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProducerBatch {
    /// Producer id, never negative.
    pub producer_id: i64,
    /// Producer epoch.
    pub epoch: i16,
    /// Sequence of the first record, -1 in control batches.
    pub first_sequence: i32,
    /// Sequence of the last record, -1 in control batches.
    pub last_sequence: i32,
    /// Offset of the first record.
    pub base_offset: Offset,
    /// Offset of the last record.
    pub last_offset: Offset,
    /// Largest timestamp, in ms since 1970.
    pub timestamp_ms: i64,
    /// Part of a transaction.
    pub transactional: bool,
    /// A transaction marker.
    pub control: bool,
}

/// A batch remembered to recognise it when it is sent again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BatchRange {
    /// Sequence of the last record.
    pub last_sequence: i32,
    /// Offset of the last record.
    pub last_offset: Offset,
    /// Number of records less one.
    pub offset_delta: i32,
    /// Largest timestamp, in ms since 1970.
    pub timestamp_ms: i64,
}

impl BatchRange {
    /// Offset of the first record.
    pub fn base_offset(&self) -> Offset {
        self.last_offset.plus(-i64::from(self.offset_delta))
    }

    /// Sequence of the first record; sequences wrap from `i32::MAX` to 0.
    pub fn first_sequence(&self) -> i32 {
        if self.last_sequence < 0 {
            return -1;
        }
        ((i64::from(self.last_sequence) - i64::from(self.offset_delta)) & i64::from(i32::MAX)) as i32
    }
}

/// One producer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProducerEntry {
    /// Its current epoch.
    pub epoch: i16,
    /// Its last batches of that epoch, oldest first: at most [`PRODUCER_BATCHES_MAX`]. Empty after a
    /// transaction marker raised the epoch.
    pub batches: VecDeque<BatchRange>,
    /// Latest time it was seen, in ms since 1970.
    pub last_timestamp_ms: i64,
    /// Epoch of the coordinator that wrote its last transaction marker, -1 without.
    pub coordinator_epoch: i32,
    /// First offset of its open transaction.
    pub txn_first_offset: Option<Offset>,
}

impl ProducerEntry {
    pub(crate) fn new(epoch: i16) -> Self {
        Self {
            epoch,
            batches: VecDeque::new(),
            last_timestamp_ms: -1,
            coordinator_epoch: -1,
            txn_first_offset: None,
        }
    }

    /// Sequence of the last record, -1 without.
    pub fn last_sequence(&self) -> i32 {
        self.batches.back().map_or(-1, |batch| batch.last_sequence)
    }

    /// Offset of the last record, -1 without.
    pub fn last_offset(&self) -> i64 {
        self.batches.back().map_or(-1, |batch| batch.last_offset.0)
    }

    fn duplicate_of(&self, batch: &ProducerBatch) -> Option<&BatchRange> {
        if batch.epoch != self.epoch {
            return None;
        }
        let same = |known: &&BatchRange| {
            known.last_sequence == batch.last_sequence && known.first_sequence() == batch.first_sequence
        };
        self.batches.iter().find(same)
    }
}

/// A sequence check's good outcome: the batch is new and may be appended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SequenceCheck(());

/// All producers of a log. A function of the batches in it, but for expiry: replaying them gives the same
/// state.
///
/// `check` changes nothing; `record` is the only way in, for batches of clients, of a leader, and of a
/// recovery scan alike.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ProducerState {
    entries: BTreeMap<i64, ProducerEntry>,
    /// First offsets of open transactions, with their producer.
    open_txns: BTreeMap<Offset, i64>,
}

impl ProducerState {
    /// Whether a client's batch follows what its producer sent before (kafka: KIP-98, KIP-360).
    ///
    /// A producer that isn't known may start with any sequence: its state may have expired.
    ///
    /// # Errors
    /// `Duplicate`, `OutOfOrderSequence`, `InvalidProducerEpoch`.
    pub fn check(&self, batch: &ProducerBatch) -> Result<SequenceCheck, AppendError> {
        let Some(entry) = self.entries.get(&batch.producer_id) else { return Ok(SequenceCheck(())) };
        if let Some(known) = entry.duplicate_of(batch) {
            return Err(AppendError::Duplicate {
                base_offset: known.base_offset(),
                last_offset: known.last_offset,
                timestamp_ms: known.timestamp_ms,
            });
        }
        if batch.epoch < entry.epoch {
            return Err(AppendError::InvalidProducerEpoch {
                producer_id: batch.producer_id,
                epoch: batch.epoch,
                current: entry.epoch,
            });
        }
        let last = if batch.epoch == entry.epoch { entry.last_sequence() } else { -1 };
        if follows(last, batch.first_sequence) {
            return Ok(SequenceCheck(()));
        }
        Err(AppendError::OutOfOrderSequence {
            producer_id: batch.producer_id,
            sequence: batch.first_sequence,
            expected_after: last,
        })
    }

    /// Takes in a batch that is in the log, in log order. Never refuses: what is in the log is true.
    pub fn record(&mut self, batch: &ProducerBatch) {
        if !self.entries.contains_key(&batch.producer_id) {
            self.make_room();
        }
        let entry = self.entries.entry(batch.producer_id).or_insert_with(|| ProducerEntry::new(batch.epoch));
        if batch.epoch != entry.epoch {
            entry.epoch = batch.epoch;
            entry.batches.clear();
        }
        entry.last_timestamp_ms = entry.last_timestamp_ms.max(batch.timestamp_ms);
        if batch.control {
            if let Some(first) = entry.txn_first_offset.take() {
                self.open_txns.remove(&first);
            }
            return;
        }
        if entry.batches.len() == PRODUCER_BATCHES_MAX {
            entry.batches.pop_front();
        }
        entry.batches.push_back(BatchRange {
            last_sequence: batch.last_sequence,
            last_offset: batch.last_offset,
            offset_delta: (batch.last_offset.0 - batch.base_offset.0) as i32,
            timestamp_ms: batch.timestamp_ms,
        });
        if batch.transactional && entry.txn_first_offset.is_none() {
            entry.txn_first_offset = Some(batch.base_offset);
            self.open_txns.insert(batch.base_offset, batch.producer_id);
        }
    }

    /// Says that the producer was alive at `now_ms`, whatever its records' timestamps say.
    pub fn touch(&mut self, producer_id: i64, now_ms: i64) {
        if let Some(entry) = self.entries.get_mut(&producer_id) {
            entry.last_timestamp_ms = entry.last_timestamp_ms.max(now_ms);
        }
    }

    /// Forgets producers without an open transaction that were idle for `idle_ms` at `now_ms`.
    pub fn expire(&mut self, now_ms: i64, idle_ms: u64) {
        let oldest = now_ms.saturating_sub(i64::try_from(idle_ms).unwrap_or(i64::MAX));
        self.entries.retain(|_, entry| entry.txn_first_offset.is_some() || entry.last_timestamp_ms >= oldest);
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.entries.clear();
        self.open_txns.clear();
    }

    /// Producers by id.
    pub fn entries(&self) -> &BTreeMap<i64, ProducerEntry> {
        &self.entries
    }

    /// First offset of the oldest open transaction: where the last stable offset stands, if there is one.
    pub fn first_open_txn(&self) -> Option<Offset> {
        self.open_txns.first_key_value().map(|(offset, _)| *offset)
    }

    /// Takes in what a snapshot says of a producer. Of several entries the later says more, and comes after the batches of the earlier.
    pub(crate) fn restore(&mut self, producer_id: i64, mut entry: ProducerEntry) {
        if let Some(earlier) =
            self.entries.remove(&producer_id).filter(|earlier| earlier.epoch == entry.epoch)
        {
            let later = std::mem::replace(&mut entry.batches, earlier.batches);
            entry.batches.extend(later);
            let excess = entry.batches.len().saturating_sub(PRODUCER_BATCHES_MAX);
            entry.batches.drain(..excess);
        }
        if let Some(first) = entry.txn_first_offset {
            self.open_txns.insert(first, producer_id);
        }
        self.entries.insert(producer_id, entry);
    }

    /// Keeps the number of producers bounded: a client that makes up ids can't take the memory.
    fn make_room(&mut self) {
        if self.entries.len() < PRODUCERS_MAX {
            return;
        }
        let mut seen: Vec<i64> = self.entries.values().map(|entry| entry.last_timestamp_ms).collect();
        let tenth = seen.len() / 10;
        let (_, &mut oldest, _) = seen.select_nth_unstable(tenth);
        let mut left = tenth.max(1);
        self.entries.retain(|_, entry| {
            let idle = left > 0 && entry.txn_first_offset.is_none() && entry.last_timestamp_ms <= oldest;
            left -= usize::from(idle);
            !idle
        });
    }
}

/// Whether `next` is the sequence after `last` (-1: none yet); sequences wrap from `i32::MAX` to 0.
fn follows(last: i32, next: i32) -> bool {
    i64::from(next) == i64::from(last) + 1 || (next == 0 && last == i32::MAX)
}

#[cfg(test)]
mod tests;
