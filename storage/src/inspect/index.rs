//! Entries of index files, whether they make sense or not.

use crate::segment::{index, time_index as times};
use crate::{FilePos, Offset};

/// An entry of an offset index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OffsetEntry {
    /// Last offset of a batch.
    pub offset: Offset,
    /// Where the batch starts.
    pub position: FilePos,
}

/// An entry of a time index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimeEntry {
    /// The largest timestamp up to the offset's batch, in ms since 1970.
    pub timestamp_ms: i64,
    /// Last offset of the batch that has it.
    pub offset: Offset,
}

/// An index file's entries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexEntries<T> {
    /// In the order of the file.
    pub entries: Vec<T>,
    /// Bytes of zeros at the file's end: Kafka makes an active index as large as it may become.
    pub unused_bytes: usize,
    /// Bytes behind the last whole entry.
    pub odd_bytes: usize,
}

/// Reads the offset index of the segment at `base`.
pub fn offset_index(base: Offset, file: &[u8]) -> IndexEntries<OffsetEntry> {
    read::<{ index::ENTRY_BYTES }, _>(file, |[a, b, c, d, e, f, g, h]| OffsetEntry {
        offset: base.plus(i64::from(u32::from_be_bytes([a, b, c, d]))),
        position: FilePos(u64::from(u32::from_be_bytes([e, f, g, h]))),
    })
}

/// Reads the time index of the segment at `base`.
pub fn time_index(base: Offset, file: &[u8]) -> IndexEntries<TimeEntry> {
    read::<{ times::ENTRY_BYTES }, _>(file, |[a, b, c, d, e, f, g, h, i, j, k, l]| TimeEntry {
        timestamp_ms: i64::from_be_bytes([a, b, c, d, e, f, g, h]),
        offset: base.plus(i64::from(u32::from_be_bytes([i, j, k, l]))),
    })
}

fn read<const BYTES: usize, T>(file: &[u8], entry: impl Fn([u8; BYTES]) -> T) -> IndexEntries<T> {
    let (chunks, odd) = file.as_chunks::<BYTES>();
    let used =
        chunks.iter().rposition(|chunk| chunk.iter().any(|byte| *byte != 0)).map_or(0, |last| last + 1);
    IndexEntries {
        entries: chunks[..used].iter().map(|chunk| entry(*chunk)).collect(),
        unused_bytes: (chunks.len() - used) * BYTES,
        odd_bytes: odd.len(),
    }
}
