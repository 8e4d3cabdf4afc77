//! The segment that takes appends: its size, its indexes, and when it is full.

use protocol::records::BatchHeader;

use crate::segment::{OffsetIndex, TimeIndex, index, time_index};
use crate::{FilePos, LogConfig, Offset};

/// The state of an open segment that its batches decide. Pure: a recovery scan fills it exactly as appending
/// does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SegmentBuild {
    /// Offset from which relative offsets count; the file's name.
    pub base: Offset,
    /// Size of all batches, in bytes: where the next one starts.
    pub bytes: u64,
    /// Sparse offset index.
    pub index: OffsetIndex,
    /// Sparse time index.
    pub times: TimeIndex,
    /// Largest timestamp of the first batch, in ms since 1970: what rolling by time counts from.
    pub first_timestamp_ms: Option<i64>,
    /// Largest timestamp, and the last offset of the first batch that has it.
    pub max_timestamp: Option<(i64, Offset)>,
    bytes_since_entry: u64,
}

impl SegmentBuild {
    pub(crate) fn new(base: Offset) -> Self {
        Self {
            base,
            bytes: 0,
            index: OffsetIndex::new(base),
            times: TimeIndex::new(base),
            first_timestamp_ms: None,
            max_timestamp: None,
            bytes_since_entry: 0,
        }
    }

    /// Goes on where a clean stop left a segment: its files' indexes, up to `bytes`.
    pub(crate) fn resume(index: OffsetIndex, times: TimeIndex, base: Offset) -> Self {
        let bytes = index.entries().last().map_or(0, |entry| u64::from(entry.position));
        Self { bytes, max_timestamp: times.last(), index, times, ..Self::new(base) }
    }

    /// As [`Self::resume`] from indexes that may reach behind `end`: from the last indexed batch that lies
    /// before it.
    pub(crate) fn cut(mut index: OffsetIndex, mut times: TimeIndex, base: Offset, end: Offset) -> Self {
        index.truncate_offsets(end);
        match index.entries().last() {
            Some(last) => times.truncate(base.plus(i64::from(last.last_offset_delta) + 1)),
            None => times.truncate(base),
        }
        Self::resume(index, times, base)
    }

    /// Takes in the batch that starts at the end, as `header` describes it after patching. Returns where it
    /// starts.
    pub(crate) fn push(&mut self, header: &BatchHeader, index_interval_bytes: u32) -> FilePos {
        let position = FilePos(self.bytes);
        let last = Offset(header.last_offset());
        let timestamp = header.max_timestamp;
        self.first_timestamp_ms.get_or_insert(timestamp);
        if self.max_timestamp.is_none_or(|(max, _)| timestamp > max) {
            self.max_timestamp = Some((timestamp, last));
        }
        if self.bytes_since_entry > u64::from(index_interval_bytes) {
            self.index.push(last, position);
            if let Some((timestamp, offset)) = self.max_timestamp {
                self.times.push(timestamp, offset);
            }
            self.bytes_since_entry = 0;
        }
        self.bytes += header.total_bytes() as u64;
        self.bytes_since_entry += header.total_bytes() as u64;
        position
    }

    /// Adds the largest timestamp to the time index, which makes it complete: the segment is being closed.
    pub(crate) fn seal(&mut self) {
        if let Some((timestamp, offset)) = self.max_timestamp {
            self.times.push(timestamp, offset);
        }
    }

    /// Whether the segment must be closed before `bytes` more: by size, or because an index is full.
    pub(crate) fn is_full(&self, bytes: u64, config: &LogConfig) -> bool {
        if self.bytes == 0 {
            return false;
        }
        // Positions are 31 bits in Kafka's index.
        let bytes_max = config.segment_bytes.min(i32::MAX as u64);
        let index_bytes_max = config.segment_index_bytes as usize;
        self.bytes + bytes > bytes_max
            || self.index.file_bytes() + index::ENTRY_BYTES > index_bytes_max
            || self.times.file_bytes() + 2 * time_index::ENTRY_BYTES
                > index_bytes_max.max(2 * time_index::ENTRY_BYTES)
    }

    /// Whether a record of time `now_ms` is `segment.ms` or more younger than the first.
    pub(crate) fn is_old(&self, config: &LogConfig, now_ms: i64) -> bool {
        let Some(first) = self.first_timestamp_ms.filter(|first| *first >= 0) else { return false };
        let age_ms = now_ms.saturating_sub(first);
        age_ms > 0 && age_ms as u64 > config.segment_age_max_ms()
    }

    /// Whether `last` fits the 31 bits of a relative offset.
    pub(crate) fn holds(&self, last: Offset) -> bool {
        (0..=i64::from(i32::MAX)).contains(&last.0.saturating_sub(self.base.0))
    }
}

#[cfg(test)]
mod tests;
