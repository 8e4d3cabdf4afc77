//! Indexes of a segment, made from its batches.

use bytes::Bytes;
use protocol::records::BatchHeader;

use crate::Offset;
use crate::log::active::SegmentBuild;

/// A segment's index files, filled batch by batch as appending them does.
#[derive(Debug)]
pub struct SegmentIndexes {
    build: SegmentBuild,
    interval_bytes: u32,
}

impl SegmentIndexes {
    /// Of the segment at `base`, with an entry every so many bytes (`index.interval.bytes`).
    pub fn new(base: Offset, interval_bytes: u32) -> Self {
        Self { build: SegmentBuild::new(base), interval_bytes }
    }

    /// Whether the batch may be the segment's next: indexes have 31 bits for offsets and positions.
    pub fn holds(&self, header: &BatchHeader) -> bool {
        let last = Offset(header.last_offset());
        header.last_offset_delta >= 0 && self.build.holds(last) && self.build.bytes <= i32::MAX as u64
    }

    /// Takes in the next batch.
    ///
    /// # Panics
    /// If it doesn't follow the one before, or the segment doesn't hold it ([`Self::holds`]).
    pub fn push(&mut self, header: &BatchHeader) {
        self.build.push(header, self.interval_bytes);
    }

    /// Offset index and time index, as files.
    pub fn finish(mut self) -> (Bytes, Bytes) {
        self.build.seal();
        (self.build.index.to_file(), self.build.times.to_file())
    }
}
