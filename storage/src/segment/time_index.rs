//! The sparse time index of a segment.

use bytes::{BufMut, Bytes, BytesMut};

use crate::Offset;

/// Bytes of an entry in Kafka's file: timestamp, relative offset.
pub(crate) const ENTRY_BYTES: usize = 12;

/// Up to `offset`, no record is younger than `timestamp_ms`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TimeEntry {
    /// Largest timestamp so far, in ms since 1970.
    pub timestamp_ms: i64,
    /// Last offset of the batch that has it, relative to the segment's base.
    pub offset_delta: u32,
}

/// The running maximum of a segment's timestamps. Strictly ascending in time, ascending in offset; timestamps
/// of records needn't be.
///
/// An entry says: every record behind its offset's batch may be younger, none before it is younger than
/// `timestamp_ms`. A cache, as the offset index is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TimeIndex {
    base: Offset,
    entries: Vec<TimeEntry>,
}

impl TimeIndex {
    /// An empty index of the segment that starts at `base`.
    pub(crate) fn new(base: Offset) -> Self {
        Self { base, entries: Vec::new() }
    }

    /// Reads Kafka's file; `None` if it can't be this segment's time index.
    pub(crate) fn parse(base: Offset, file: &[u8]) -> Option<Self> {
        let (chunks, rest) = file.as_chunks::<ENTRY_BYTES>();
        let mut entries: Vec<TimeEntry> = Vec::with_capacity(chunks.len());
        for &[a, b, c, d, e, f, g, h, i, j, k, l] in chunks {
            let entry = TimeEntry {
                timestamp_ms: i64::from_be_bytes([a, b, c, d, e, f, g, h]),
                offset_delta: u32::from_be_bytes([i, j, k, l]),
            };
            let ascends = entries.last().is_none_or(|last| {
                last.timestamp_ms < entry.timestamp_ms && last.offset_delta <= entry.offset_delta
            });
            if !ascends || entry.offset_delta > i32::MAX as u32 {
                return None;
            }
            entries.push(entry);
        }
        rest.is_empty().then_some(Self { base, entries })
    }

    /// Kafka's file.
    pub(crate) fn to_file(&self) -> Bytes {
        let mut file = BytesMut::with_capacity(self.entries.len() * ENTRY_BYTES);
        for entry in &self.entries {
            file.put_i64(entry.timestamp_ms);
            file.put_u32(entry.offset_delta);
        }
        file.freeze()
    }

    /// Adds the running maximum and the last offset of its batch, if it is a new one.
    pub(crate) fn push(&mut self, timestamp_ms: i64, last_offset: Offset) {
        if timestamp_ms < 0 || self.entries.last().is_some_and(|last| last.timestamp_ms >= timestamp_ms) {
            return;
        }
        let offset_delta = (last_offset.0 - self.base.0).clamp(0, i64::from(i32::MAX)) as u32;
        self.entries.push(TimeEntry { timestamp_ms, offset_delta });
    }

    /// From which offset on to search for the first record at or after `timestamp_ms`.
    pub(crate) fn floor(&self, timestamp_ms: i64) -> Offset {
        let after = self.entries.partition_point(|entry| entry.timestamp_ms < timestamp_ms);
        after.checked_sub(1).map_or(self.base, |at| self.base.plus(i64::from(self.entries[at].offset_delta)))
    }

    /// The largest timestamp and the last offset of its batch.
    pub(crate) fn last(&self) -> Option<(i64, Offset)> {
        self.entries.last().map(|last| (last.timestamp_ms, self.base.plus(i64::from(last.offset_delta))))
    }

    /// The last entry about offsets below `end`: what lies before it is no younger.
    pub(crate) fn last_before(&self, end: Offset) -> Option<(i64, Offset)> {
        let offset = |entry: &TimeEntry| self.base.plus(i64::from(entry.offset_delta));
        let after = self.entries.partition_point(|entry| offset(entry) < end);
        after.checked_sub(1).map(|at| (self.entries[at].timestamp_ms, offset(&self.entries[at])))
    }

    /// Drops what was said about `end` and later offsets.
    pub(crate) fn truncate(&mut self, end: Offset) {
        let keep = self.entries.partition_point(|entry| self.base.plus(i64::from(entry.offset_delta)) < end);
        self.entries.truncate(keep);
    }

    #[cfg(test)]
    pub(crate) fn entries(&self) -> &[TimeEntry] {
        &self.entries
    }

    /// Size of Kafka's file, in bytes.
    pub(crate) fn file_bytes(&self) -> usize {
        self.entries.len() * ENTRY_BYTES
    }
}

#[cfg(test)]
mod tests;
