//! Handles for the benchmarks on what is private here (feature `bench`).

use crate::segment::OffsetIndex;
use crate::{FilePos, Offset};

/// A segment's offset index by itself.
#[derive(Debug)]
pub struct IndexLookup(OffsetIndex);

impl IndexLookup {
    /// An index of `entries` batches of 16 KiB, `step` records each.
    pub fn with_entries(entries: i64, step: i64) -> Self {
        let mut index = OffsetIndex::new(Offset::ZERO);
        for at in 0..entries {
            index.push(Offset((at + 1) * step - 1), FilePos(at as u64 * 16_384));
        }
        Self(index)
    }

    /// Where a read of `offset` starts to walk, in bytes.
    pub fn floor(&self, offset: i64) -> u64 {
        self.0.floor(Offset(offset)).0
    }
}
