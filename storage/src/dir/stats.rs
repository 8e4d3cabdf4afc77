//! [`DirStats`]: what happened in one shard's part of a log directory since it was opened.

use std::cell::Cell;

use rt::TimeHistogram;

/// Counts, each in a cell of the shard: an addition where it happens, read by whoever tells about it.
#[derive(Debug, Default)]
pub struct DirStats {
    /// Batches appended, in memory so far.
    pub appended_batches: Cell<u64>,
    /// Records in them.
    pub appended_records: Cell<u64>,
    /// Their size, in bytes.
    pub appended_bytes: Cell<u64>,
    /// Offsets that came to be below `written`; records, where there are no gaps.
    pub written_records: Cell<u64>,
    /// Offsets that came to be below `synced`.
    pub synced_records: Cell<u64>,
    /// Written to segments, in bytes: whole blocks, so more than was appended.
    pub device_bytes: Cell<u64>,
    /// Written to the journal, in bytes: whole blocks.
    pub journal_bytes: Cell<u64>,
    /// Frames with records written to the journal.
    pub journal_frames: Cell<u64>,
    /// Times that a log was written to its segment because the journal had no room.
    pub journal_refused_logs: Cell<u64>,
    /// Times that the journal was freed.
    pub journal_checkpoints: Cell<u64>,
    /// Segments that retention removed.
    pub deleted_segments: Cell<u64>,
    /// Size of them, in bytes.
    pub deleted_bytes: Cell<u64>,
    /// Compaction passes that were made.
    pub compaction_passes: Cell<u64>,
    /// Passes that ended early, for want of space or because the log can't be compacted.
    pub compaction_failed_passes: Cell<u64>,
    /// Read by compaction, in bytes.
    pub compaction_read_bytes: Cell<u64>,
    /// Written by compaction to new segments, in bytes.
    pub compaction_written_bytes: Cell<u64>,
    /// Records that compaction took out.
    pub compaction_removed_records: Cell<u64>,
    /// Segments that compaction replaced.
    pub compaction_replaced_segments: Cell<u64>,
    /// How long each group flush took: its writes, and its syncs where wanted.
    pub flush_time: TimeHistogram,
    /// How long each sync took, of the journal, of one segment, or of the whole file system.
    pub sync_time: TimeHistogram,
}

/// A budget's fill.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MemoryUse {
    /// Taken now, in bytes.
    pub used_bytes: usize,
    /// What it may take, in bytes.
    pub capacity_bytes: usize,
}

/// Memory of one shard's part of a log directory.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DirMemory {
    /// Reserved, or appended and not in a segment file yet.
    pub unplaced: MemoryUse,
    /// Batches held for tail readers, those that aren't placed included.
    pub tail: MemoryUse,
    /// Pieces of segments held for catch-up readers.
    pub cache: MemoryUse,
    /// Indexes of closed segments.
    pub indexes: MemoryUse,
    /// The compaction pass that is under way: its map of keys, which is what has the capacity, and the batch that is
    /// compressed anew. One pass at a time on a shard, whatever the directory.
    pub compaction: MemoryUse,
}

/// Counts up.
pub(crate) fn add(cell: &Cell<u64>, count: u64) {
    cell.set(cell.get() + count);
}
