//! What a log, and a directory, remember of compaction.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

use rt::Instant;
use rt::sync::Notify;

use crate::dir::stats::MemoryUse;
use crate::{CleanerConfig, Offset};

/// Of one log.
#[derive(Debug, Default)]
pub(crate) struct LogCompaction {
    /// Up to where it is compacted, as its file says; `None` if that isn't known: then all of it is dirty.
    pub cleaned: Cell<Option<Offset>>,
    /// Why it can't be compacted.
    pub uncleanable: RefCell<Option<String>>,
    /// Until when it is left out, after a file of it couldn't be opened, read or written.
    pub rests_until: Cell<Option<Instant>>,
    /// Segments that are being replaced, from the first one's start to the last one's end: who wants to read their files
    /// waits.
    pub replacing: Cell<Option<(Offset, Offset)>>,
    pub replaced: Notify,
    /// Largest timestamp of the first batch of closed segments, by their base, as far as it was looked up.
    pub first_timestamps: RefCell<BTreeMap<Offset, i64>>,
}

impl LogCompaction {
    /// Whether it is left out at `now`.
    pub(crate) fn rests(&self, now: Instant) -> bool {
        self.rests_until.get().is_some_and(|until| now < until)
    }
}

/// Of one shard's part of a directory.
#[derive(Debug, Default)]
pub(crate) struct DirCompaction {
    /// Whether a pass is under way; when it ends `ended` wakes.
    pub running: Cell<bool>,
    pub ended: Notify,
    /// Whether passes must end.
    pub stopping: Cell<bool>,
    /// How many bytes a second the pass may read and write.
    pub bytes_per_second: Cell<f64>,
    /// What the pass takes now, and what its map of keys may.
    pub memory: Cell<MemoryUse>,
    /// When a pass was last looked for.
    pub looked_at: Cell<Option<Instant>>,
    /// The dirty part of the dirtiest log then, 0 to 1.
    pub dirtiest: Cell<f64>,
}

/// Memory of a pass, counted until it is dropped.
#[derive(Debug)]
pub(crate) struct Charged<'a> {
    compaction: &'a DirCompaction,
    bytes: usize,
}

impl Drop for Charged<'_> {
    fn drop(&mut self) {
        self.compaction.add_memory(|used_bytes| used_bytes.saturating_sub(self.bytes));
    }
}

impl DirCompaction {
    /// A pass begins that keeps to `cleaner`.
    pub(crate) fn begin(&self, cleaner: &CleanerConfig) {
        self.bytes_per_second.set(cleaner.bytes_per_second);
        self.memory.set(MemoryUse { capacity_bytes: cleaner.map_bytes, ..self.memory.get() });
    }

    /// Counts memory that was taken.
    pub(crate) fn charge(&self, bytes: usize) -> Charged<'_> {
        self.add_memory(|used_bytes| used_bytes + bytes);
        Charged { compaction: self, bytes }
    }

    fn add_memory(&self, change: impl FnOnce(usize) -> usize) {
        let memory = self.memory.get();
        self.memory.set(MemoryUse { used_bytes: change(memory.used_bytes), ..memory });
    }

    /// Has the pass that is under way end, and begins no more. Returns once it has.
    pub(crate) async fn stop(&self) {
        self.stopping.set(true);
        loop {
            let ended = self.ended.notified();
            if !self.running.get() {
                return;
            }
            ended.await;
        }
    }
}
