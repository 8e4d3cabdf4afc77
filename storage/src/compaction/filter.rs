//! What stays of a batch. Pure: the caller reads the records and decides nothing.
//!
//! | of a batch | stays |
//! |--|--|
//! | a record with a later one of its key | no |
//! | a record without a key | no: it can't have been meant for a compacted log |
//! | a tombstone | until the batch's delete horizon, which the first pass over it sets (KIP-534) |
//! | records of an aborted transaction | no |
//! | a transaction's marker | until no record of the transaction is left, and then until the delete horizon |
//! | what lies beyond the map of keys | yes, untouched |
//! | none of its records, but the last sequence of its producer | emptied |
//! | none of its records, but the end of what becomes one segment | emptied |

use bytes::Bytes;
use protocol::records::{BatchBuilder, BatchHeader, Record, emptied};

use super::key_map::KeyMap;
use crate::Offset;
use crate::producer::ProducerEntry;

/// What a pass knows when it filters.
#[derive(Debug)]
pub(crate) struct Rules<'a> {
    /// The keys' last offsets.
    pub map: &'a KeyMap,
    /// The map tells of the records before this offset.
    pub mapped: Offset,
    /// When the pass began, in ms since 1970.
    pub now_ms: i64,
    /// `delete.retention.ms`.
    pub delete_retention_ms: u64,
}

/// One batch under the rules.
#[derive(Debug)]
pub(crate) struct Filter<'a> {
    rules: &'a Rules<'a>,
    header: BatchHeader,
    /// It stays though no record does.
    keep_empty: bool,
    /// No record of it stays.
    discard: bool,
    /// It is the marker of a transaction of which nothing is left.
    marks_nothing: bool,
    /// Of each record looked at, whether it stays.
    keep: Vec<bool>,
    kept: usize,
    has_tombstone: bool,
}

/// What to write in a batch's place.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// The batch as it is.
    Whole,
    /// Nothing.
    Nothing,
    /// Its header, changed: all records are gone.
    Empty(Bytes),
    /// Fewer records, or the same with a delete horizon.
    Rewritten(Rewrite),
}

/// A batch that is being written anew. Its records are read once more, rather than held: a batch may decompress to
/// more than a hundred times its size.
#[derive(Debug)]
pub(crate) struct Rewrite {
    builder: BatchBuilder,
    keep: std::vec::IntoIter<bool>,
}

impl Rewrite {
    /// Takes the next record of the old batch.
    pub(crate) fn take(&mut self, record: &Record) {
        if self.keep.next().unwrap_or(true) {
            self.builder.push_record(record);
        }
    }

    /// The new batch.
    pub(crate) fn into_builder(self) -> BatchBuilder {
        self.builder
    }
}

impl Rules<'_> {
    /// Whether the batch lies wholly beyond what the map tells of.
    pub(crate) fn is_beyond(&self, header: &BatchHeader) -> bool {
        Offset(header.base_offset) >= self.mapped
    }
}

impl<'a> Filter<'a> {
    /// Begins with a batch. `producer` is what the log knows of its producer now; `discardable` says that it is of an
    /// aborted transaction, or the marker of one of which nothing is left; `ends_group` that it is the last of what
    /// becomes one segment: it stays, for a start that finds the old segments beside the new one goes by where that
    /// ends.
    pub(crate) fn new(
        rules: &'a Rules<'a>,
        header: BatchHeader,
        producer: Option<&ProducerEntry>,
        discardable: bool,
        ends_group: bool,
    ) -> Self {
        let control = header.attributes.is_control();
        let horizon_passed = header.delete_horizon_ms().is_some_and(|horizon| horizon <= rules.now_ms);
        let keep_empty = ends_group || producer.is_some_and(|producer| is_last_of(producer, &header));
        Self {
            rules,
            header,
            keep_empty,
            discard: discardable && (!control || horizon_passed),
            marks_nothing: discardable && control,
            keep: Vec::new(),
            kept: 0,
            has_tombstone: false,
        }
    }

    /// Whether the records must be looked at.
    pub(crate) fn wants_records(&self) -> bool {
        !self.discard
    }

    /// Looks at the next record.
    pub(crate) fn look(&mut self, record: &Record) {
        let keeps = self.keeps(record);
        // What isn't mapped may still delete something: its time begins later.
        let is_mapped = Offset(record.offset) < self.rules.mapped;
        self.has_tombstone |= keeps && is_mapped && record.value.is_none();
        self.kept += usize::from(keeps);
        self.keep.push(keeps);
    }

    fn keeps(&self, record: &Record) -> bool {
        if self.header.attributes.is_control() || Offset(record.offset) >= self.rules.mapped {
            return true;
        }
        if record.key.is_none() || self.rules.map.supersedes(record) {
            return false;
        }
        let horizon = self.header.delete_horizon_ms();
        record.value.is_some() || horizon.is_none_or(|horizon| self.rules.now_ms < horizon)
    }

    /// How many records go, and what takes the batch's place.
    pub(crate) fn finish(self) -> (usize, Outcome) {
        let records = self.header.records_count.max(0) as usize;
        let gone = records.saturating_sub(self.kept);
        if self.kept == 0 {
            let outcome = match self.keep_empty {
                true => Outcome::Empty(emptied(&self.header)),
                false => Outcome::Nothing,
            };
            return (gone, outcome);
        }
        let sets_horizon =
            (self.has_tombstone || self.marks_nothing) && self.header.delete_horizon_ms().is_none();
        if gone == 0 && !sets_horizon {
            return (0, Outcome::Whole);
        }
        let mut builder = BatchBuilder::like(&self.header);
        if sets_horizon {
            let delay_ms = i64::try_from(self.rules.delete_retention_ms).unwrap_or(i64::MAX);
            builder = builder.delete_horizon(self.rules.now_ms.saturating_add(delay_ms));
        }
        (gone, Outcome::Rewritten(Rewrite { builder, keep: self.keep.into_iter() }))
    }
}

/// Whether the batch tells what the producer did last: its last sequence, or only its epoch, by a marker.
fn is_last_of(producer: &ProducerEntry, header: &BatchHeader) -> bool {
    match producer.last_offset() {
        -1 => header.attributes.is_control() && header.producer_epoch == producer.epoch,
        last => header.last_offset() == last,
    }
}

#[cfg(test)]
mod tests;
