//! [`Traffic`]: what went in and out of partitions.

use std::cell::Cell;

/// Counts since some moment, in cells of the shard. Several partitions may count into one, those of a topic say.
#[derive(Debug, Default)]
pub struct Traffic {
    /// Records appended; duplicates of idempotent producers aren't.
    pub records_in: Cell<u64>,
    /// Their batches, in bytes.
    pub bytes_in: Cell<u64>,
    /// Records handed to consumers, by their offsets: a gap left by compaction counts as well.
    pub records_out: Cell<u64>,
    /// Batches handed to consumers, in bytes.
    pub bytes_out: Cell<u64>,
}

impl Traffic {
    /// A batch came in.
    pub fn count_in(&self, records: u64, bytes: u64) {
        self.records_in.set(self.records_in.get() + records);
        self.bytes_in.set(self.bytes_in.get() + bytes);
    }

    /// Batches went out.
    pub fn count_out(&self, records: u64, bytes: u64) {
        self.records_out.set(self.records_out.get() + records);
        self.bytes_out.set(self.bytes_out.get() + bytes);
    }
}
