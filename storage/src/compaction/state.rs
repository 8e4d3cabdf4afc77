//! What a log, and a directory, remember of compaction.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

use rt::Instant;
use rt::sync::Notify;

use crate::Offset;

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
    /// When a pass was last looked for.
    pub looked_at: Cell<Option<Instant>>,
    /// The dirty part of the dirtiest log then, 0 to 1.
    pub dirtiest: Cell<f64>,
}

impl DirCompaction {
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
