//! The state behind a [`crate::Log`] handle.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::path::PathBuf;
use std::rc::{Rc, Weak};

use protocol::types::Uuid;
use rt::fs::File;
use rt::sync::{Budget, Notify};

use super::core::LogCore;
use super::held::Held;
use super::roll::Sealed;
use super::watermarks::Watermarks;
use crate::compaction::state::LogCompaction;
use crate::dir::shared::DirShared;
use crate::error::{is_device_error, is_full};
use crate::limits::READ_HINTS_MAX;
use crate::segment::names;
use crate::{LogConfig, Offset, ReadError, StorageError, TopicPartition};

/// Whether a log can be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LogStatus {
    /// In use.
    Online,
    /// Its files are damaged below what was synced; kept as they are for repair. The reason, for the
    /// operator.
    Corrupt(String),
    /// It couldn't be opened or made, for this reason: stands in until that was tried again.
    Unavailable(String),
    /// Closed.
    Closed,
    /// Deleted.
    Deleted,
}

/// Where a recent catch-up read ended: where a sequential reader goes on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ReadHint {
    pub next: Offset,
    pub segment: Offset,
    pub position: u64,
    pub version: u64,
}

/// One log. All tasks of its shard share it by `Rc`; no borrow of a cell is held over an await.
///
/// Three gates order what happens to its files, each held by one task at a time, taken in this order:
/// `writer` (bytes of the active segment: the committer, rolls, truncation), `space` (its length: growth,
/// rolls, truncation), `files` (the small files beside it).
#[derive(Debug)]
pub(crate) struct LogInner {
    pub id: u64,
    pub partition: TopicPartition,
    pub topic_id: Uuid,
    pub path: PathBuf,
    /// It isn't under the partition's name: a replay would look for its records there.
    pub is_future: bool,
    pub dir: Rc<DirShared>,
    pub config: RefCell<Rc<LogConfig>>,
    pub core: RefCell<LogCore>,
    pub marks: Watermarks,
    pub status: RefCell<LogStatus>,
    pub writer: Budget,
    /// What the committer has the `writer` gate for, while it has it.
    pub held: RefCell<Weak<Held>>,
    pub space: Budget,
    pub files: Budget,
    /// Whose turn it is to sync a segment's file; taken last, whatever else is held.
    pub syncing: Budget,
    /// Bytes of reservations not used yet.
    pub reserved: Cell<u64>,
    /// The last batch was `segment.ms` younger than the segment's first.
    pub roll_due: Cell<bool>,
    /// Whether a task is making space; when it is done `space_moved` wakes and `space_error` tells how it
    /// went.
    pub making_space: Cell<bool>,
    pub space_moved: Notify,
    pub space_error: RefCell<Option<Rc<StorageError>>>,
    /// In the directory's list of logs that hold batches in memory.
    pub retained: Cell<bool>,
    /// In the committer's queue.
    pub dirty: Cell<bool>,
    /// Up to where [`crate::Log::flush`] wants a sync, whatever the mode.
    pub flush_wanted: Cell<Offset>,
    /// Whether the active segment has bytes that are neither in the journal nor synced.
    pub segment_unsynced: Cell<bool>,
    /// Bytes of the tail that the directory counts as in the journal only.
    pub pinned: Cell<usize>,
    /// When the oldest unsynced write was made, on `rt`'s clock.
    pub unsynced_since: Cell<Option<rt::Instant>>,
    /// The deadline of `flush.ms` that the committer remembers it by.
    pub sync_at: Cell<Option<rt::Instant>>,
    /// Small files of closed segments that a full disk kept from being written.
    pub unfinished: RefCell<VecDeque<Sealed>>,
    /// It is being closed, or moved: reads and acknowledgements go on, appends don't.
    pub refuses_appends: Cell<bool>,
    /// A cut is under way, which goes by what is in memory and what in files: nothing is evicted.
    pub cutting: Cell<bool>,
    /// Whether anything was changed since the log was opened: if not, closing leaves the files as they are.
    pub changed: Cell<bool>,
    pub compaction: LogCompaction,
    hints: RefCell<VecDeque<ReadHint>>,
}

/// See [`LogInner::begin_cut`]; held with the `writer` gate.
#[derive(Debug)]
pub(crate) struct Cutting(Rc<LogInner>);

impl Drop for Cutting {
    fn drop(&mut self) {
        self.0.cutting.set(false);
    }
}

impl LogInner {
    pub(crate) fn new(
        dir: &Rc<DirShared>,
        partition: TopicPartition,
        topic_id: Uuid,
        config: LogConfig,
        core: LogCore,
        status: LogStatus,
    ) -> Rc<Self> {
        let path = dir.path.join(names::dir_name(&partition));
        Self::new_at(path, dir, partition, topic_id, config, core, status)
    }

    /// As [`Self::new`], for a log in the directory `path`.
    pub(crate) fn new_at(
        path: PathBuf,
        dir: &Rc<DirShared>,
        partition: TopicPartition,
        topic_id: Uuid,
        config: LogConfig,
        core: LogCore,
        status: LogStatus,
    ) -> Rc<Self> {
        let is_future = path != dir.path.join(names::dir_name(&partition));
        let marks = Watermarks::new(core.end);
        if status != LogStatus::Online {
            marks.set_offline();
        }
        let log = Rc::new(Self {
            id: dir.next_log_id(),
            partition,
            topic_id,
            path,
            is_future,
            dir: dir.clone(),
            config: RefCell::new(Rc::new(config)),
            core: RefCell::new(core),
            marks,
            status: RefCell::new(status),
            writer: Budget::new(1),
            held: RefCell::new(Weak::new()),
            space: Budget::new(1),
            files: Budget::new(1),
            syncing: Budget::new(1),
            reserved: Cell::new(0),
            roll_due: Cell::new(false),
            making_space: Cell::new(false),
            space_moved: Notify::new(),
            space_error: RefCell::new(None),
            retained: Cell::new(false),
            dirty: Cell::new(false),
            flush_wanted: Cell::new(Offset::ZERO),
            segment_unsynced: Cell::new(false),
            pinned: Cell::new(0),
            unsynced_since: Cell::new(None),
            sync_at: Cell::new(None),
            refuses_appends: Cell::new(false),
            cutting: Cell::new(false),
            unfinished: RefCell::new(VecDeque::new()),
            changed: Cell::new(false),
            compaction: LogCompaction::default(),
            hints: RefCell::new(VecDeque::new()),
        });
        dir.logs.borrow_mut().insert(log.id, Rc::downgrade(&log));
        log
    }

    pub(crate) fn is_offline(&self) -> bool {
        self.dir.has_failed() || *self.status.borrow() != LogStatus::Online
    }

    /// Ends the log's use: waiters end with an error, appends and reads are refused.
    pub(crate) fn set_status(&self, status: LogStatus) {
        *self.status.borrow_mut() = status;
        self.marks.set_offline();
        self.space_moved.notify_waiters();
    }

    /// The directory failed: tells those who wait at this log.
    pub(crate) fn dir_failed(&self) {
        self.marks.set_offline();
        self.space_moved.notify_waiters();
    }

    pub(crate) fn config(&self) -> Rc<LogConfig> {
        self.config.borrow().clone()
    }

    /// The path of one of a segment's files.
    pub(crate) fn file_path(&self, base: Offset, suffix: &str) -> PathBuf {
        self.path.join(names::file_name(base, suffix))
    }

    /// Ends appending, for those who wait for space as well.
    pub(crate) fn refuse_appends(&self) {
        self.refuses_appends.set(true);
        self.space_moved.notify_waiters();
    }

    /// Keeps all batches in memory where they are until the result is dropped.
    pub(crate) fn begin_cut(self: &Rc<Self>) -> Cutting {
        self.cutting.set(true);
        Cutting(self.clone())
    }

    /// Gives up the oldest batch held in memory, if it may go.
    pub(crate) fn evict_one(&self) -> bool {
        if self.cutting.get() {
            return false;
        }
        let mut core = self.core.borrow_mut();
        let active = core.active.build.base;
        match core.tail.evict_one(active) {
            Some(bytes) => {
                self.dir.released(bytes);
                true
            }
            None => false,
        }
    }

    /// Closes the file of a log that is at rest, which frees the batches pinned for its next write: they are
    /// read back when it comes. False if it isn't at rest; what is written but not synced yet will be, so
    /// that a later call succeeds.
    pub(crate) fn cool_down(self: &Rc<Self>) -> bool {
        let gates = (self.writer.try_take(1), self.space.try_take(1));
        let (Some(_writer), Some(_space)) = gates else { return false };
        let mut core = self.core.borrow_mut();
        let at_rest = self.reserved.get() == 0 && core.tail.unplaced_bytes() == 0 && core.closing.is_none();
        if !at_rest || core.active.file.is_none() {
            return false;
        }
        if self.marks.synced() < self.marks.appended() {
            drop(core);
            self.flush_wanted.set(self.marks.appended());
            self.dir.mark_dirty(self);
            return false;
        }
        self.dir.released(core.tail.held_bytes());
        core.tail.clear();
        if let Some(file) = core.active.file.take() {
            self.dir.retire(file);
        }
        drop(core);
        self.count_pinned();
        true
    }

    /// Whether nothing was ever appended: there is no segment.
    pub(crate) fn is_untouched(&self) -> bool {
        let core = self.core.borrow();
        core.closed.is_empty() && !core.active.exists && core.end == Offset::ZERO
    }

    /// Syncs a segment's file. One sync at a time: a failed one is told to whoever asked, and what it lost isn't missed by the
    /// next, which would succeed. So the directory has failed before another begins.
    pub(crate) async fn sync_file(&self, file: &File) -> std::io::Result<()> {
        let _turn = self.syncing.take(1).await;
        if self.dir.has_failed() {
            return Err(std::io::Error::other("the directory failed"));
        }
        let synced = file.sync_data().await;
        if let Err(error) = &synced {
            self.dir.fail(format!("syncing a segment of {}: {error}", self.path.display()));
        }
        synced
    }

    /// As [`Self::fail`], unless only space is missing: for what may be done again later, where nothing that
    /// was promised is in doubt. Never for writes and syncs of segments.
    pub(crate) fn fail_unless_full(&self, what: &str, error: std::io::Error) -> StorageError {
        if is_full(&error) {
            tracing::warn!(log = %self.partition, what, "no space left");
            return StorageError::NoSpace;
        }
        self.fail(what, error)
    }

    /// As [`Self::fail`] if the device failed, else the error alone: for opening and making files, which also
    /// fails for reasons that say nothing about the medium.
    pub(crate) fn fail_on_device(&self, what: &str, error: std::io::Error) -> StorageError {
        if is_device_error(&error) {
            return self.fail(what, error);
        }
        StorageError::io(format!("{what} {}", self.path.display()), error)
    }

    /// Takes the directory offline because of `error`, and hands it on.
    pub(crate) fn fail(&self, what: &str, error: std::io::Error) -> StorageError {
        let what = format!("{what} {}", self.path.display());
        self.dir.fail(format!("{what}: {error}"));
        StorageError::io(what, error)
    }

    pub(crate) fn out_of_range(&self, offset: Offset) -> ReadError {
        let core = self.core.borrow();
        ReadError::OffsetOutOfRange { offset, start: core.start, end: core.end }
    }

    pub(crate) fn hint_for(&self, next: Offset, segment: Offset, version: u64) -> Option<u64> {
        let hints = self.hints.borrow();
        let found =
            hints.iter().find(|hint| (hint.next, hint.segment, hint.version) == (next, segment, version));
        found.map(|hint| hint.position)
    }

    pub(crate) fn remember(&self, hint: ReadHint) {
        let mut hints = self.hints.borrow_mut();
        if hints.len() == READ_HINTS_MAX {
            hints.pop_front();
        }
        hints.push_back(hint);
    }
}
