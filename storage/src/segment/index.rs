//! The sparse offset index of a segment.

use bytes::{BufMut, Bytes, BytesMut};

use crate::{FilePos, Offset};

/// Bytes of an entry in Kafka's file: relative offset, position.
pub(crate) const ENTRY_BYTES: usize = 8;

/// Where one batch stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct IndexEntry {
    /// Offset of the batch's last record, relative to the segment's base.
    pub last_offset_delta: u32,
    /// Where the batch starts, in bytes.
    pub position: u32,
}

/// Every `index.interval.bytes` of a segment, the last offset of a batch and where that batch starts.
/// Strictly ascending in both.
///
/// A cache: what it says can be found again by walking the segment, so that a missing or damaged file costs
/// time only.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OffsetIndex {
    base: Offset,
    entries: Vec<IndexEntry>,
}

impl OffsetIndex {
    /// An empty index of the segment that starts at `base`.
    pub(crate) fn new(base: Offset) -> Self {
        Self { base, entries: Vec::new() }
    }

    /// Reads Kafka's file. `None` if it can't be this segment's index: a length that isn't whole entries,
    /// entries that don't ascend (the zeros of an unfinished write), positions beyond `log_bytes`.
    pub(crate) fn parse(base: Offset, file: &[u8], log_bytes: u64) -> Option<Self> {
        let (chunks, rest) = file.as_chunks::<ENTRY_BYTES>();
        let mut entries: Vec<IndexEntry> = Vec::with_capacity(chunks.len());
        for &[a, b, c, d, e, f, g, h] in chunks {
            let entry = IndexEntry {
                last_offset_delta: u32::from_be_bytes([a, b, c, d]),
                position: u32::from_be_bytes([e, f, g, h]),
            };
            let ascends = entries.last().is_none_or(|last| {
                last.last_offset_delta < entry.last_offset_delta && last.position < entry.position
            });
            if !ascends || entry.last_offset_delta > i32::MAX as u32 || u64::from(entry.position) >= log_bytes
            {
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
            file.put_u32(entry.last_offset_delta);
            file.put_u32(entry.position);
        }
        file.freeze()
    }

    /// Adds a batch that follows all others.
    ///
    /// # Panics
    /// If it doesn't follow them, or leaves the segment's 31 bits: the caller rolls before.
    pub(crate) fn push(&mut self, last_offset: Offset, position: FilePos) {
        let delta = last_offset.0 - self.base.0;
        assert!(
            (0..=i64::from(i32::MAX)).contains(&delta),
            "{last_offset} is outside of the segment at {}",
            self.base
        );
        let entry = IndexEntry {
            last_offset_delta: delta as u32,
            position: u32::try_from(position.0)
                .unwrap_or_else(|_| panic!("position {position} is beyond 4 GiB")),
        };
        if let Some(last) = self.entries.last() {
            assert!(last.last_offset_delta < entry.last_offset_delta && last.position < entry.position);
        }
        self.entries.push(entry);
    }

    /// Where to start walking to find the batch that holds `offset`: the last batch known not to lie behind
    /// it, or the segment's start.
    pub(crate) fn floor(&self, offset: Offset) -> FilePos {
        let delta = offset.0 - self.base.0;
        let after = self.entries.partition_point(|entry| i64::from(entry.last_offset_delta) <= delta);
        FilePos(after.checked_sub(1).map_or(0, |at| u64::from(self.entries[at].position)))
    }

    /// Drops the entries of batches that hold `end` or later offsets.
    pub(crate) fn truncate_offsets(&mut self, end: Offset) {
        let delta = end.0 - self.base.0;
        let keep = self.entries.partition_point(|entry| i64::from(entry.last_offset_delta) < delta);
        self.entries.truncate(keep);
    }

    /// All entries in order.
    pub(crate) fn entries(&self) -> &[IndexEntry] {
        &self.entries
    }

    /// Size of Kafka's file, and about that of the memory used, in bytes.
    pub(crate) fn file_bytes(&self) -> usize {
        self.entries.len() * ENTRY_BYTES
    }
}

#[cfg(test)]
mod tests;
