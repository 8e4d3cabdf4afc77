//! Which records are of aborted transactions, and which markers mark nothing any more. Pure.
//!
//! A transaction's data is aborted if the next marker of its producer says so. A *survey* reads on from the first
//! transactional batch a pass meets to the markers of all transactions it has met; a log without transactions is
//! never surveyed.

use std::collections::{BTreeMap, BTreeSet};

use protocol::records::{BatchHeader, ControlRecord};

use crate::Offset;

/// An aborted transaction's offsets, from its first record to its marker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Aborted {
    first: Offset,
    marker: Offset,
}

/// A survey: batches are shown to it in order.
#[derive(Debug)]
pub(crate) struct Survey {
    aborted: BTreeMap<i64, Vec<Aborted>>,
    /// First offsets of transactions whose marker hasn't come, by producer.
    open: BTreeMap<i64, Offset>,
    /// Where it began, and where it must know all that begins before.
    from: Offset,
    upto: Offset,
    left: usize,
}

impl Survey {
    /// Surveys the batches from `from` on, until all transactions with data before `upto` are known, or
    /// `aborted_max` of them are aborted.
    pub(crate) fn new(from: Offset, upto: Offset, aborted_max: usize) -> Self {
        Self { aborted: BTreeMap::new(), open: BTreeMap::new(), from, upto, left: aborted_max }
    }

    /// Shows it a batch; of a marker `kind` is what its record says, if it has one. False once it needs no more.
    pub(crate) fn show(&mut self, header: &BatchHeader, kind: Option<ControlRecord>) -> bool {
        let base = Offset(header.base_offset);
        if base >= self.upto && self.open.is_empty() {
            return false;
        }
        if self.left == 0 {
            self.upto = self.open.values().copied().min().unwrap_or(base).min(base);
            return false;
        }
        let producer = header.producer_id;
        if header.attributes.is_control() {
            let first = self.open.remove(&producer);
            if let (Some(first), Some(ControlRecord::Abort)) = (first, kind) {
                self.aborted.entry(producer).or_default().push(Aborted { first, marker: base });
                self.left -= 1;
            }
        } else if header.attributes.is_transactional() && base < self.upto {
            self.open.entry(producer).or_insert(base);
        }
        true
    }

    /// What it found, once no more batches come.
    pub(crate) fn finish(self) -> Transactions {
        // What has no marker in all of the log isn't known: nothing behind may be judged.
        let upto = self.open.values().copied().min().map_or(self.upto, |first| first.min(self.upto));
        Transactions { aborted: self.aborted, from: self.from, upto }
    }
}

/// The aborted transactions of a part of a log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Transactions {
    aborted: BTreeMap<i64, Vec<Aborted>>,
    from: Offset,
    /// Of data before this the outcome is known.
    pub upto: Offset,
}

impl Transactions {
    /// Whether it tells of the batch.
    pub(crate) fn knows(&self, header: &BatchHeader) -> bool {
        (self.from..self.upto).contains(&Offset(header.base_offset))
    }

    /// Whether a batch of data is of an aborted transaction.
    pub(crate) fn is_aborted(&self, header: &BatchHeader) -> bool {
        let Some(aborted) = self.aborted.get(&header.producer_id) else { return false };
        let base = Offset(header.base_offset);
        let at = aborted.partition_point(|transaction| transaction.marker < base);
        header.attributes.is_transactional()
            && aborted.get(at).is_some_and(|transaction| transaction.first <= base)
    }
}

/// Which transactions a pass has met data of, and their markers not yet.
#[derive(Debug, Default, Clone)]
pub(crate) struct Met(BTreeSet<i64>);

impl Met {
    /// A batch of data that was in the log when the pass came to it, whether it stays or not: its marker stays for
    /// this pass.
    pub(crate) fn data(&mut self, header: &BatchHeader) {
        if header.attributes.is_transactional() {
            self.0.insert(header.producer_id);
        }
    }

    /// Whether a marker marks nothing any more: no data of its transaction was met. `kind` is what its record says;
    /// without a record it was done with before. Markers that end no transaction always stay.
    pub(crate) fn marks_nothing(&mut self, header: &BatchHeader, kind: Option<ControlRecord>) -> bool {
        match kind {
            None => true,
            Some(ControlRecord::Abort | ControlRecord::Commit) => !self.0.remove(&header.producer_id),
            Some(_) => false,
        }
    }
}

#[cfg(test)]
mod tests;
