//! The batches of a log that are held in memory: those not in the file yet, and the latest ones that are, for
//! readers.

use std::collections::VecDeque;

use bytes::{Bytes, BytesMut};
use protocol::records::{BatchHeader, HEADER_BYTES, RecordsError};

use crate::limits::{BLOCK_BYTES, JOIN_BYTES_MAX, TAIL_BATCH_OVERHEAD_BYTES};
use crate::{FilePos, Offset};

/// One batch as the file gets it: base offset and leader epoch patched.
#[derive(Debug)]
pub(crate) struct TailBatch<P> {
    /// Offset of the first record.
    pub base: Offset,
    /// Offset of the last record.
    pub last: Offset,
    /// Base offset of the segment it belongs to.
    pub segment: Offset,
    /// Where it starts in that segment.
    pub position: FilePos,
    /// The patched header, if `body` is still the slice of a receive frame; else empty.
    pub head: Bytes,
    /// The rest, or the whole batch.
    pub body: Bytes,
    /// The right to hold memory until the batch is written.
    pub permit: Option<P>,
}

impl<P> TailBatch<P> {
    /// Size in the file, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.head.len() + self.body.len()
    }

    /// Its header.
    pub(crate) fn header(&self) -> Result<BatchHeader, RecordsError> {
        BatchHeader::parse(if self.head.is_empty() { &self.body } else { &self.head })
    }

    fn end(&self) -> u64 {
        self.position.0 + self.bytes() as u64
    }

    fn copy_from(&self, skip: usize, target: &mut [u8]) -> usize {
        let mut copied = 0;
        let mut skip = skip;
        for part in [&self.head, &self.body] {
            let from = skip.min(part.len());
            skip -= from;
            let count = (part.len() - from).min(target.len() - copied);
            target[copied..copied + count].copy_from_slice(&part[from..from + count]);
            copied += count;
        }
        copied
    }
}

/// Which bytes of a read came from memory.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct TailSlice {
    /// Whole batches in order.
    pub bufs: Vec<Bytes>,
    /// Their total size.
    pub bytes: usize,
}

/// Consecutive batches up to the log's end, without a gap in offsets order.
///
/// ```text
///   segment A (closed)        segment B (active)
///   ┌──────┬──────┐ ┌──────┬──────┬──────────────┬──────┬──────┐
///   │placed│placed│ │placed│pinned│in the journal│ new  │ new  │
///   └──────┴──────┘ └──────┴──┊───┴──────────────┴──────┴──────┘
///   ^ evicted from here       ┊   ^ placed       ^ written     ^ appended
///                             ^ placed, rounded down to a block: the device write starts here again
/// ```
/// Pinned: what is in the journal only; and a batch of the active segment that ends behind the last whole block: it
/// stays, because the next device write begins with its bytes, and because readers may not take that block from the
/// file while it is being rewritten.
#[derive(Debug)]
pub(crate) struct Tail<P> {
    batches: VecDeque<TailBatch<P>>,
    /// How many batches from the front are placed.
    placed: usize,
    /// How many batches from the front are placed or in the journal.
    written: usize,
    /// Bytes held, how many of them are placed, and how many are placed or in the journal.
    bytes: usize,
    placed_bytes: usize,
    written_bytes: usize,
}

impl<P> Default for Tail<P> {
    fn default() -> Self {
        let batches = VecDeque::new();
        Self { batches, placed: 0, written: 0, bytes: 0, placed_bytes: 0, written_bytes: 0 }
    }
}

impl<P> Tail<P> {
    pub(crate) fn push(&mut self, batch: TailBatch<P>) {
        if let Some(last) = self.batches.back() {
            assert!(last.last < batch.base, "{} doesn't follow {}", batch.base, last.last);
        }
        self.bytes += batch.bytes();
        self.batches.push_back(batch);
    }

    /// Puts placed batches before all others: the last blocks of a segment that goes on being written. Those
    /// held already are left out.
    pub(crate) fn restore(&mut self, pinned: Vec<TailBatch<P>>) {
        for batch in pinned.into_iter().rev() {
            if self.batches.front().is_some_and(|first| batch.last >= first.base) {
                continue;
            }
            self.bytes += batch.bytes();
            self.placed_bytes += batch.bytes();
            self.written_bytes += batch.bytes();
            self.placed += 1;
            self.written += 1;
            self.batches.push_front(batch);
        }
    }

    /// The first batch held of `segment`.
    pub(crate) fn first_of(&self, segment: Offset) -> Option<&TailBatch<P>> {
        self.batches
            .get(self.batches.partition_point(|batch| batch.segment < segment))
            .filter(|b| b.segment == segment)
    }

    /// The batch that starts at `position` of `segment`.
    pub(crate) fn at(&self, segment: Offset, position: FilePos) -> Option<&TailBatch<P>> {
        let before = |batch: &TailBatch<P>| (batch.segment, batch.position) < (segment, position);
        let found = self.batches.get(self.batches.partition_point(before))?;
        ((found.segment, found.position) == (segment, position)).then_some(found)
    }

    /// Bytes that are in the journal and not placed.
    pub(crate) fn journaled_bytes(&self) -> usize {
        self.written_bytes - self.placed_bytes
    }

    /// Bytes not placed yet.
    pub(crate) fn unplaced_bytes(&self) -> usize {
        self.bytes - self.placed_bytes
    }

    /// What all that is held takes in memory, in bytes.
    pub(crate) fn held_bytes(&self) -> usize {
        self.bytes + self.batches.len() * TAIL_BATCH_OVERHEAD_BYTES
    }

    /// Copies the bytes of `segment` from position `from` on into `target`, as far as there are any. Returns
    /// how many.
    pub(crate) fn copy_range(&self, segment: Offset, from: FilePos, target: &mut [u8]) -> usize {
        let before = |batch: &TailBatch<P>| {
            batch.segment < segment || (batch.segment == segment && batch.end() <= from.0)
        };
        let first = self.batches.partition_point(before);
        let mut copied = 0;
        for batch in self.batches.range(first..) {
            if batch.segment != segment || copied == target.len() {
                break;
            }
            let at = from.0 + copied as u64;
            assert!(batch.position.0 <= at, "the tail has a hole at {at}");
            copied += batch.copy_from((at - batch.position.0) as usize, &mut target[copied..]);
        }
        copied
    }

    /// Says that everything of `segment` up to `position` is in the file, or in the journal: gives the memory
    /// rights back. Returns the offset after the last batch that became so.
    pub(crate) fn mark_written(&mut self, segment: Offset, position: FilePos) -> Option<Offset> {
        let mut end = None;
        while let Some(batch) = self.batches.get_mut(self.written) {
            if (batch.segment, batch.end()) > (segment, position.0) {
                break;
            }
            batch.permit = None;
            self.written_bytes += batch.bytes();
            self.written += 1;
            end = Some(batch.last.plus(1));
        }
        end
    }

    /// Says that everything of `segment` up to `position` is in the file. Returns as [`Self::mark_written`].
    pub(crate) fn mark_placed(&mut self, segment: Offset, position: FilePos) -> Option<Offset> {
        let end = self.mark_written(segment, position);
        while let Some(batch) = self.batches.get(self.placed) {
            if (batch.segment, batch.end()) > (segment, position.0) {
                break;
            }
            self.placed_bytes += batch.bytes();
            self.placed += 1;
        }
        end
    }

    /// Gives up the oldest batch if it may go: it is placed, and not pinned in `active`. Returns what it took, in
    /// bytes.
    pub(crate) fn evict_one(&mut self, active: Offset) -> Option<usize> {
        if self.placed == 0 {
            return None;
        }
        // What is placed ends where the first unplaced batch of the segment starts; that block's batches
        // stay.
        let placed_end = self.batches[self.placed - 1].end();
        let oldest = self.batches.front()?;
        let last_placed_segment = self.batches[self.placed - 1].segment;
        let pinned = oldest.segment == active
            && last_placed_segment == active
            && oldest.end() > placed_end - placed_end % BLOCK_BYTES as u64;
        if pinned {
            return None;
        }
        let bytes = oldest.bytes();
        self.batches.pop_front();
        self.placed -= 1;
        self.written -= 1;
        self.bytes -= bytes;
        self.placed_bytes -= bytes;
        self.written_bytes -= bytes;
        Some(bytes + TAIL_BATCH_OVERHEAD_BYTES)
    }

    /// Gives up the batches that start before `end`, which are all of closed segments. Returns what they took, in bytes.
    pub(crate) fn evict_before(&mut self, end: Offset, active: Offset) -> usize {
        let mut bytes = 0;
        while self.batches.front().is_some_and(|oldest| oldest.base < end) {
            let Some(evicted) = self.evict_one(active) else { break };
            bytes += evicted;
        }
        bytes
    }

    /// Drops the batches that hold `end` or later offsets.
    pub(crate) fn truncate(&mut self, end: Offset) {
        while self.batches.back().is_some_and(|batch| batch.last >= end) {
            if let Some(batch) = self.batches.pop_back() {
                self.bytes -= batch.bytes();
                if self.batches.len() < self.placed {
                    self.placed -= 1;
                    self.placed_bytes -= batch.bytes();
                }
                if self.batches.len() < self.written {
                    self.written -= 1;
                    self.written_bytes -= batch.bytes();
                }
            }
        }
    }

    /// Drops everything.
    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }

    /// Bytes between the batch that holds `from` and the one before `upto`; `None` if the first isn't held.
    pub(crate) fn readable_bytes(&self, from: Offset, upto: Offset, max: usize) -> Option<usize> {
        let first = self.index_of(from)?;
        let mut bytes = 0;
        for batch in self.batches.range(first..) {
            if batch.base >= upto || bytes >= max {
                break;
            }
            bytes += batch.bytes();
        }
        Some(bytes)
    }

    /// Whole batches from the one that holds `from`, those that start below `upto`, within `bytes_max`; at
    /// least one if `min_one`. `None` if the first isn't held.
    pub(crate) fn read(
        &self,
        from: Offset,
        upto: Offset,
        bytes_max: usize,
        min_one: bool,
    ) -> Option<TailSlice> {
        let first = self.index_of(from)?;
        let mut slice = TailSlice::default();
        let mut join = Join::default();
        for batch in self.batches.range(first..) {
            let fits = slice.bytes + batch.bytes() <= bytes_max || (min_one && slice.bytes == 0);
            if batch.base >= upto || !fits {
                break;
            }
            slice.bytes += batch.bytes();
            join.add(batch, &mut slice.bufs);
        }
        join.flush(&mut slice.bufs);
        Some(slice)
    }

    /// Calls `each` with the batches from the one that holds `from`, oldest first, until it returns false.
    pub(crate) fn visit(&self, from: Offset, mut each: impl FnMut(&TailBatch<P>) -> bool) {
        let Some(first) = self.index_of(from) else { return };
        for batch in self.batches.range(first..) {
            if !each(batch) {
                return;
            }
        }
    }

    fn index_of(&self, from: Offset) -> Option<usize> {
        if self.batches.front().is_none_or(|first| from < first.base) {
            return None;
        }
        Some(self.batches.partition_point(|batch| batch.last < from))
    }
}

/// Joins neighbouring small batches into one buffer.
#[derive(Default)]
struct Join {
    open: BytesMut,
    /// A lone small batch isn't copied.
    single: Option<Bytes>,
}

impl Join {
    fn add<P>(&mut self, batch: &TailBatch<P>, bufs: &mut Vec<Bytes>) {
        let small = batch.head.is_empty() && batch.body.len() < JOIN_BYTES_MAX;
        if !small {
            self.flush(bufs);
            bufs.extend([&batch.head, &batch.body].into_iter().filter(|part| !part.is_empty()).cloned());
            return;
        }
        if self.open.is_empty() && self.single.is_none() {
            self.single = Some(batch.body.clone());
            return;
        }
        if let Some(single) = self.single.take() {
            self.open.extend_from_slice(&single);
        }
        self.open.extend_from_slice(&batch.body);
        if self.open.len() >= 16 * JOIN_BYTES_MAX {
            self.flush(bufs);
        }
    }

    fn flush(&mut self, bufs: &mut Vec<Bytes>) {
        bufs.extend(self.single.take());
        if !self.open.is_empty() {
            bufs.push(std::mem::take(&mut self.open).freeze());
        }
    }
}

/// A batch's bytes for the tail, patched: a copy of the whole if `copy`, else a copied header and the rest as
/// a slice of the frame.
pub(crate) fn split_for_tail(batch: &Bytes, copy: bool, patch: impl FnOnce(&mut [u8])) -> (Bytes, Bytes) {
    if copy {
        let mut whole = BytesMut::from(&batch[..]);
        patch(&mut whole);
        return (Bytes::new(), whole.freeze());
    }
    let mut head = BytesMut::from(&batch[..HEADER_BYTES]);
    patch(&mut head);
    (head.freeze(), batch.slice(HEADER_BYTES..))
}

#[cfg(test)]
mod tests;
