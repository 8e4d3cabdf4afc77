//! What the logs of one shard in one directory share: failure, committer queue, memory budgets, caches, open
//! files.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::path::{Path, PathBuf};
use std::rc::{Rc, Weak};

use bytes::Bytes;
use rt::TaskSet;
use rt::fs::{File, Volume};
use rt::sync::{Budget, Notify};

use super::doomed::DoomedQueue;
use super::files;
use super::room::RoomGauge;
use super::stats::{DirMemory, DirStats, MemoryUse};
use crate::compaction::state::DirCompaction;
use crate::journal::Journal;
use crate::limits::{EVICT_TRIES_MAX, FLUSH_WRITES_MAX, HANDLES_MAX, INDEX_BYTES_MAX};
use crate::log::inner::LogInner;
use crate::lru::Lru;
use crate::segment::{OffsetIndex, TimeIndex};
use crate::{LogDirConfig, Offset};

/// Names a segment file's content: log (unique in the shard), base offset, and version
/// ([`crate::log::core::LogCore::version_of`]).
pub(crate) type SegmentKey = (u64, Offset, u64);

/// Both indexes of a closed segment.
#[derive(Debug)]
pub(crate) struct SegmentIndexes {
    pub offsets: OffsetIndex,
    pub times: TimeIndex,
}

/// One per open [`crate::LogDir`]; lives as long as any of its logs' handles.
#[derive(Debug)]
pub(crate) struct DirShared {
    pub path: PathBuf,
    pub config: LogDirConfig,
    /// Open since before the first write, so that it tells of all that failed since.
    pub volume: Volume,
    /// Why the directory failed.
    failed: RefCell<Option<String>>,
    pub failed_moved: Notify,
    /// Logs with something to write or sync.
    pub dirty: RefCell<Vec<Rc<LogInner>>>,
    pub dirty_moved: Notify,
    pub stopping: Cell<bool>,
    flushing_ended: Cell<bool>,
    /// How many logs may have what the journal has of them written to their segments at the same time.
    pub placing: Budget,
    /// Bytes reserved or appended that are not placed yet.
    pub unplaced: Budget,
    /// The logs that hold batches in memory: they give them up in turn.
    pub retained: RefCell<VecDeque<Weak<LogInner>>>,
    pub tail_bytes: Cell<usize>,
    pub pieces: RefCell<Lru<(SegmentKey, u64), Bytes>>,
    pub indexes: RefCell<Lru<SegmentKey, Rc<SegmentIndexes>>>,
    handles: RefCell<Lru<SegmentKey, Rc<File>>>,
    /// Files that are no longer needed but may have a reader left.
    retired: RefCell<Vec<Rc<File>>>,
    /// Rolls, growth, placements, removals.
    pub tasks: TaskSet,
    /// All logs, to tell them when the directory fails.
    pub logs: RefCell<BTreeMap<u64, Weak<LogInner>>>,
    next_log: Cell<u64>,
    pub stats: DirStats,
    pub journal: Rc<Journal>,
    /// Segments that went, whose files are still there.
    pub doomed: DoomedQueue,
    pub compaction: DirCompaction,
    pub room: RoomGauge,
}

impl DirShared {
    pub(crate) fn new(path: PathBuf, config: LogDirConfig, volume: Volume, start: u64) -> Rc<Self> {
        Rc::new(Self {
            path,
            volume,
            failed: RefCell::new(None),
            failed_moved: Notify::new(),
            dirty: RefCell::new(Vec::new()),
            dirty_moved: Notify::new(),
            stopping: Cell::new(false),
            flushing_ended: Cell::new(false),
            placing: Budget::new(FLUSH_WRITES_MAX),
            unplaced: Budget::new(config.unplaced_bytes_max),
            retained: RefCell::new(VecDeque::new()),
            tail_bytes: Cell::new(0),
            pieces: RefCell::new(Lru::new(config.cache_bytes_max)),
            indexes: RefCell::new(Lru::new(INDEX_BYTES_MAX)),
            handles: RefCell::new(Lru::new(HANDLES_MAX)),
            retired: RefCell::new(Vec::new()),
            tasks: TaskSet::new(),
            logs: RefCell::new(BTreeMap::new()),
            next_log: Cell::new(0),
            stats: DirStats::default(),
            doomed: DoomedQueue::default(),
            room: RoomGauge::default(),
            journal: Rc::new(Journal::new(config.journal.clone(), config.tail_bytes_max, start)),
            compaction: DirCompaction::default(),
            config,
        })
    }

    pub(crate) fn next_log_id(&self) -> u64 {
        self.next_log.replace(self.next_log.get() + 1)
    }

    pub(crate) fn has_failed(&self) -> bool {
        self.failed.borrow().is_some()
    }

    pub(crate) fn failure(&self) -> Option<String> {
        self.failed.borrow().clone()
    }

    /// Takes the directory offline for good: a write or sync failed, so that nobody knows what is on the
    /// medium.
    pub(crate) fn fail(&self, reason: String) {
        if self.has_failed() {
            return;
        }
        tracing::error!(dir = %self.path.display(), reason, "the log directory failed, its partitions are offline");
        *self.failed.borrow_mut() = Some(reason);
        let logs: Vec<_> = self.logs.borrow().values().filter_map(Weak::upgrade).collect();
        logs.iter().for_each(|log| log.dir_failed());
        self.dirty_moved.notify_waiters();
        self.failed_moved.notify_waiters();
    }

    /// The file of a segment, for reading.
    pub(crate) async fn handle(&self, key: SegmentKey, path: &Path) -> io::Result<Rc<File>> {
        if let Some(file) = self.handles.borrow_mut().get(&key) {
            return Ok(file);
        }
        let file = Rc::new(files::open_for_reading(path, self.config.direct_io).await?);
        let gone = self.handles.borrow_mut().insert(key, file.clone(), 1);
        self.retired.borrow_mut().extend(gone);
        self.reap().await;
        Ok(file)
    }

    /// Forgets what was read of a segment's file.
    pub(crate) fn forget(&self, key: SegmentKey) {
        self.forget_between(key, key);
    }

    /// Forgets what was read of a segment's files, whatever they held.
    pub(crate) fn forget_segment(&self, id: u64, base: Offset) {
        self.forget_between((id, base, 0), (id, base, u64::MAX));
    }

    /// Forgets what was read of a log's files.
    pub(crate) fn forget_log(&self, id: u64) {
        self.forget_between((id, Offset(i64::MIN), 0), (id, Offset(i64::MAX), u64::MAX));
    }

    fn forget_between(&self, first: SegmentKey, last: SegmentKey) {
        let handles = self.handles.borrow_mut().remove_range(first, last);
        self.retired.borrow_mut().extend(handles);
        self.pieces.borrow_mut().remove_range((first, 0), (last, u64::MAX));
        self.indexes.borrow_mut().remove_range(first, last);
    }

    /// Has a file closed once its last reader is done.
    pub(crate) fn retire(&self, file: Rc<File>) {
        self.retired.borrow_mut().push(file);
    }

    /// Closes retired files that nobody reads any more.
    pub(crate) async fn reap(&self) {
        let retired = std::mem::take(&mut *self.retired.borrow_mut());
        for file in retired {
            match Rc::try_unwrap(file) {
                Ok(file) => {
                    if let Err(error) = file.close().await {
                        tracing::warn!(%error, "closing a segment file");
                    }
                }
                Err(shared) => self.retired.borrow_mut().push(shared),
            }
        }
    }

    /// Closes all read handles.
    pub(crate) async fn close_handles(&self) {
        let all = std::mem::replace(&mut *self.handles.borrow_mut(), Lru::new(HANDLES_MAX)).into_values();
        self.retired.borrow_mut().extend(all);
        self.reap().await;
    }

    /// Removes a deleted log's directory, in the background.
    pub(crate) fn remove_later(self: &Rc<Self>, gone: PathBuf) {
        let dir = self.clone();
        self.tasks.spawn(async move {
            if let Err(error) = rt::fs::remove_dir_all(&gone).await {
                // The next start tries again.
                tracing::warn!(%error, dir = %gone.display(), "removing a deleted log");
            }
            drop(dir);
        });
    }

    /// Puts a log into the committer's queue.
    pub(crate) fn mark_dirty(&self, log: &Rc<LogInner>) {
        if !self.flushing_ended.get() && !log.dirty.replace(true) {
            self.dirty.borrow_mut().push(log.clone());
            self.dirty_moved.notify_waiters();
        }
    }

    /// The committer ends: what is in its queue, which holds the logs that hold this, goes.
    pub(crate) fn end_flushing(&self) {
        self.flushing_ended.set(true);
        let queue = std::mem::take(&mut *self.dirty.borrow_mut());
        drop(queue);
    }

    /// Counts what a log took into its tail, in bytes. While all together hold too much, those that hold more than
    /// an equal share shrink to it, this one first, then the others in turn: a busy log doesn't take a quiet one's
    /// latest records.
    pub(crate) fn retain(&self, log: &Rc<LogInner>, bytes: usize) {
        self.tail_bytes.set(self.tail_bytes.get() + bytes);
        if !log.retained.replace(true) {
            self.retained.borrow_mut().push_back(Rc::downgrade(log));
        }
        self.shrink_to_share(log);
        let mut stuck = self.retained.borrow().len().min(EVICT_TRIES_MAX);
        while stuck > 0 && self.tail_bytes.get() > self.config.tail_bytes_max {
            let Some(next) = self.retained.borrow_mut().pop_front() else { break };
            let Some(log) = next.upgrade() else { continue };
            if !self.shrink_to_share(&log) {
                stuck -= 1;
            }
            if log.core.borrow().tail.held_bytes() == 0 {
                log.retained.set(false);
            } else {
                self.retained.borrow_mut().push_back(next);
            }
        }
    }

    /// Has a log that holds more than its share give up what it may, until all together hold no more than they
    /// should. Whether it gave anything up.
    fn shrink_to_share(&self, log: &Rc<LogInner>) -> bool {
        let share = self.config.tail_bytes_max / self.retained.borrow().len().max(1);
        let is_too_much = || {
            self.tail_bytes.get() > self.config.tail_bytes_max && log.core.borrow().tail.held_bytes() > share
        };
        let mut shrank = false;
        while is_too_much() && log.evict_one() {
            shrank = true;
        }
        shrank || (is_too_much() && log.cool_down())
    }

    /// How full the budgets are.
    pub(crate) fn memory(&self) -> DirMemory {
        let fill = |used_bytes, capacity_bytes| MemoryUse { used_bytes, capacity_bytes };
        DirMemory {
            unplaced: fill(self.unplaced.used(), self.unplaced.capacity()),
            tail: fill(self.tail_bytes.get(), self.config.tail_bytes_max),
            cache: fill(self.pieces.borrow().cost(), self.config.cache_bytes_max),
            indexes: fill(self.indexes.borrow().cost(), INDEX_BYTES_MAX),
            compaction: self.compaction.memory.get(),
        }
    }

    pub(crate) fn released(&self, bytes: usize) {
        self.tail_bytes.set(self.tail_bytes.get().saturating_sub(bytes));
    }
}
