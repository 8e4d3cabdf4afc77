//! [`LogDir`]: one shard's part of a log directory.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::rc::Rc;

use protocol::types::Uuid;
use rt::Task;
use rt::fs::Volume;

use super::busy::{Busy, BusyName};
use super::doomed;
use super::home::DirFacts;
use super::meta;
use super::room::{self, Room};
use super::shared::DirShared;
use super::stats::{DirMemory, DirStats};
use crate::committer;
use crate::fan_out::fan_out;
use crate::journal;
use crate::limits::{FLUSH_WRITES_MAX, OPENS_MAX};
use crate::log::close::ClosedAt;
use crate::log::inner::{LogInner, LogStatus};
use crate::log::open::{self, Known};
use crate::segment::names;
use crate::{Log, LogConfig, LogDirConfig, Offset, StorageError, TopicPartition};

/// The logs that one shard owns in one directory, with the committer that flushes them.
///
/// Lifecycle: [`Self::open`], then logs are opened ([`Self::open_logs`]), made and deleted; [`Self::close`]
/// at the end. A directory whose write or sync failed is offline for good; the process may go on with others.
#[derive(Debug)]
pub struct LogDir {
    shared: Rc<DirShared>,
    facts: DirFacts,
    logs: Rc<RefCell<BTreeMap<TopicPartition, Log>>>,
    /// Logs that couldn't be opened: their files are as a crash left them.
    unopened: RefCell<BTreeSet<TopicPartition>>,
    /// Names that the directory's files of offsets say nothing of any more: their logs were opened or made.
    outdated: RefCell<BTreeSet<TopicPartition>>,
    busy: Busy,
    closing: Cell<bool>,
    committer: RefCell<Option<Task<()>>>,
    remover: RefCell<Option<Task<()>>>,
    watcher: RefCell<Option<Task<()>>>,
}

/// What a shard's clean stop tells the directory's owner: where its logs start and end.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ClosedDir {
    /// Each log that was closed.
    pub logs: Vec<(TopicPartition, ClosedAt)>,
    /// Whether all were, and none of this shard's was left unopened for an error.
    pub clean: bool,
}

impl LogDir {
    /// Begins the use of a directory by this shard. `facts` come from the directory's owner
    /// ([`crate::DirHome::open`]).
    ///
    /// After an unclean stop everything on the device is synced first, so that what recovery reads can't be
    /// lost any more.
    ///
    /// # Errors
    /// `Io`.
    pub async fn open(
        path: impl Into<PathBuf>,
        facts: DirFacts,
        config: LogDirConfig,
    ) -> Result<Self, StorageError> {
        let config = LogDirConfig { clean: facts.clean, ..config };
        let path = path.into();
        let failed = |error| StorageError::io(format!("syncing {}", path.display()), error);
        // The owner's lock is there; any of the directory's files would do.
        let volume = Volume::open(path.join(meta::LOCK)).await.map_err(failed)?;
        if !facts.clean || !facts.unrecovered.is_empty() {
            volume.sync().await.map_err(failed)?;
        }
        let shared = DirShared::new(path, config, volume, facts.start);
        let committer = rt::spawn(committer::run(shared.clone()));
        room::look(&shared).await;
        let watcher = RefCell::new(Some(rt::spawn(room::watch(shared.clone()))));
        let remover = RefCell::new(Some(rt::spawn(doomed::remove_due(shared.clone()))));
        let (logs, unopened) = (Rc::default(), RefCell::default());
        let (busy, committer) = (Busy::default(), RefCell::new(Some(committer)));
        let (outdated, closing) = (RefCell::default(), Cell::new(false));
        Ok(Self { shared, facts, logs, unopened, outdated, busy, closing, committer, remover, watcher })
    }

    /// Opens existing logs, several at a time. One that is damaged is opened offline ([`Log::status`]).
    ///
    /// # Errors
    /// The first one met; the others are opened all the same.
    pub async fn open_logs(
        &self,
        wanted: Vec<(TopicPartition, LogConfig)>,
    ) -> Result<Vec<Log>, StorageError> {
        let results =
            fan_out(wanted, OPENS_MAX, |(partition, config)| self.open_log(partition, config)).await;
        results.into_iter().collect()
    }

    /// Opens one existing log.
    ///
    /// # Errors
    /// `Exists` if it is open, or about to be; `Unknown` if it has no directory, `Io`.
    pub async fn open_log(&self, partition: TopicPartition, config: LogConfig) -> Result<Log, StorageError> {
        let _busy = self.begin(&partition)?;
        if !rt::fs::exists(&self.shared.path.join(names::dir_name(&partition))).await {
            return Err(StorageError::Unknown(partition));
        }
        let known = Known {
            start: self.facts.log_starts.get(&partition).copied(),
            recovery_point: self.facts.recovery_points.get(&partition).copied().filter(|_| !self.facts.clean),
            unrecovered: self.facts.unrecovered.contains(&partition),
            unreplayed: self.facts.unreplayed.get(&partition).cloned(),
            cleaned: self.facts.cleaned.as_ref().map(|told| told.get(&partition).copied()),
        };
        let known = if self.outdated.borrow().contains(&partition) { Known::default() } else { known };
        // Until it is open, for whatever reason it isn't.
        self.unopened.borrow_mut().insert(partition.clone());
        let log = open::open(&self.shared, partition.clone(), config, known).await?;
        self.admit(&partition, &log)?;
        self.unopened.borrow_mut().remove(&partition);
        Ok(log)
    }

    /// Makes a new, empty log.
    ///
    /// # Errors
    /// `Exists` (also if a directory of that name is there but not open), `Refused` for a name that can't be
    /// a directory, `Offline`, `NoSpace`, `Io`.
    pub async fn create_log(
        &self,
        partition: TopicPartition,
        topic_id: Uuid,
        config: LogConfig,
    ) -> Result<Log, StorageError> {
        let _busy = self.begin(&partition)?;
        let path = self.shared.path.join(names::dir_name(&partition));
        if names::parse_dir_name(&names::dir_name(&partition)).as_ref() != Some(&partition) {
            let reason = "the topic's name can't be a directory's".into();
            return Err(StorageError::Refused { path: path.display().to_string(), reason });
        }
        if rt::fs::exists(&path).await {
            return Err(StorageError::Exists(partition));
        }
        let has_namesake = self.facts.log_starts.contains_key(&partition);
        let log = open::create(&self.shared, partition.clone(), topic_id, config, has_namesake).await?;
        self.admit(&partition, &log)?;
        Ok(log)
    }

    /// Deletes a log: it is offline from the first moment on; when this returns the name is free again. The
    /// files go in the background.
    ///
    /// # Errors
    /// `Unknown`; `NoSpace`: it is offline, but its name isn't free yet, call again; `Io`.
    pub async fn delete_log(&self, partition: &TopicPartition) -> Result<(), StorageError> {
        self.put_away(partition, |log| async move { log.delete().await }).await
    }

    /// Ends a log's use and renames its directory to a `-stray` one, which stays for the operator. When this
    /// returns the name is free.
    ///
    /// # Errors
    /// As of [`Self::delete_log`].
    pub async fn set_aside(&self, partition: &TopicPartition) -> Result<(), StorageError> {
        self.put_away(partition, |log| async move { log.set_aside().await }).await
    }

    /// Ends a log's use, whether or not the caller stays to see it.
    async fn put_away<F>(
        &self,
        partition: &TopicPartition,
        end: impl FnOnce(Rc<LogInner>) -> F + 'static,
    ) -> Result<(), StorageError>
    where
        F: Future<Output = Result<(), StorageError>> + 'static,
    {
        if self.closing.get() {
            return Err(StorageError::Offline);
        }
        let unknown = || StorageError::Unknown(partition.clone());
        let busy = self.busy.begin(partition).ok_or_else(unknown)?;
        let log = self.logs.borrow_mut().remove(partition).ok_or_else(unknown)?;
        let logs = self.logs.clone();
        let ended = log.0.detached(|log| async move {
            let _busy = busy;
            let ended = end(log.clone()).await;
            if ended.is_err() {
                // For want of space: it may be tried again. In any case it keeps a stop from counting as clean.
                logs.borrow_mut().insert(log.partition.clone(), Log(log));
            }
            ended
        });
        ended.await
    }

    /// One of the logs.
    pub fn log(&self, partition: &TopicPartition) -> Option<Log> {
        self.logs.borrow().get(partition).cloned()
    }

    /// All open logs, by name.
    pub fn logs(&self) -> Vec<Log> {
        self.logs.borrow().values().cloned().collect()
    }

    /// The directory's id.
    pub fn directory_id(&self) -> Uuid {
        self.facts.directory_id
    }

    /// Why the directory is offline, if it is.
    pub fn failure(&self) -> Option<String> {
        self.shared.failure()
    }

    /// Waits until the directory fails, and tells why.
    pub async fn failed(&self) -> String {
        loop {
            if let Some(reason) = self.shared.failure() {
                return reason;
            }
            self.shared.failed_moved.notified().await;
        }
    }

    /// Takes the directory offline: another shard met a failed write or sync on it.
    pub fn fail(&self, reason: impl Into<String>) {
        self.shared.fail(reason.into());
    }

    /// What happened here since it was opened.
    pub fn stats(&self) -> &DirStats {
        &self.shared.stats
    }

    /// What is known of the disk's room: the last look, a second ago at most.
    pub fn room(&self) -> Room {
        self.shared.room.room()
    }

    /// How full its memory budgets are.
    pub fn memory(&self) -> DirMemory {
        self.shared.memory()
    }

    /// Bytes of batches held in memory for tail readers and not yet written, all logs together.
    pub fn tail_bytes(&self) -> usize {
        self.shared.tail_bytes.get()
    }

    /// Writes down the recovery points of all logs: what [`Log::checkpoint`] does, for each.
    ///
    /// # Errors
    /// The first one met.
    pub async fn checkpoint(&self) -> Result<(), StorageError> {
        for log in self.logs().into_iter().filter(|log| !log.is_offline()) {
            log.checkpoint().await?;
        }
        Ok(())
    }

    /// Closes all logs as a clean stop does, and ends. Hand the result to [`crate::DirHome::close`]. Logs
    /// that are offline keep the directory from counting as clean.
    pub async fn close(&self) -> ClosedDir {
        self.closing.set(true);
        self.shared.compaction.stop().await;
        self.shared.journal.ending.set(true);
        // What is being put away is gone then, or one of the logs again.
        self.busy.over().await;
        let logs = std::mem::take(&mut *self.logs.borrow_mut());
        let mut closed = ClosedDir { logs: Vec::new(), clean: true };
        for partition in self.unopened.borrow().iter() {
            tracing::warn!(%partition, "a log was never opened: the next start recovers it");
            closed.clean = false;
        }
        let results = fan_out(logs.into_iter().collect(), OPENS_MAX, |(partition, log)| async move {
            (partition, log.close().await)
        });
        for (partition, result) in results.await {
            match result {
                Ok(at) => closed.logs.push((partition, at)),
                Err(error) => {
                    tracing::warn!(%partition, %error, "a log wasn't closed cleanly");
                    closed.clean = false;
                }
            }
        }
        self.shared.stopping.set(true);
        self.shared.dirty_moved.notify_waiters();
        let committer = self.committer.borrow_mut().take();
        if let Some(committer) = committer {
            committer.await;
        }
        for task in [&self.remover, &self.watcher] {
            let task = task.borrow_mut().take();
            if let Some(task) = task {
                task.cancel().await;
            }
        }
        let journal = &self.shared.journal;
        while journal.checkpointing.get() || journal.making.get() {
            journal.work_ended.notified().await;
        }
        // Of a directory that failed, segments may still be being written.
        drop(self.shared.placing.take(FLUSH_WRITES_MAX).await);
        // Only removals of deleted logs and segments are left, which the next start takes up again.
        self.shared.tasks.cancel_all().await;
        self.shared.close_handles().await;
        closed.clean &= !self.shared.has_failed();
        if let Err(error) = journal::files::end(&self.shared, closed.clean).await {
            tracing::warn!(%error, dir = %self.shared.path.display(), "the journal wasn't removed");
            closed.clean = false;
        }
        closed
    }

    pub(crate) fn shared(&self) -> &Rc<DirShared> {
        &self.shared
    }

    /// A log that couldn't be opened has no directory of that name any more.
    pub(super) fn forget_unopened(&self, partition: &TopicPartition) {
        self.unopened.borrow_mut().remove(partition);
        self.outdated.borrow_mut().insert(partition.clone());
    }

    /// Takes in a log that was opened or made, unless the directory is being closed by now.
    pub(super) fn admit(&self, partition: &TopicPartition, log: &Log) -> Result<(), StorageError> {
        if self.closing.get() {
            log.0.set_status(LogStatus::Closed);
            return Err(StorageError::Offline);
        }
        self.logs.borrow_mut().insert(partition.clone(), log.clone());
        self.outdated.borrow_mut().insert(partition.clone());
        Ok(())
    }

    pub(super) fn busy(&self) -> &Busy {
        &self.busy
    }

    /// Takes a log out of those in use. Until [`Self::settle_unopened`] its files may be as a crash would leave them.
    pub(super) fn take_out(&self, partition: &TopicPartition) -> Option<Log> {
        let log = self.logs.borrow_mut().remove(partition)?;
        self.unopened.borrow_mut().insert(partition.clone());
        Some(log)
    }

    /// A log that isn't in use was left as a clean stop leaves it.
    pub(super) fn settle_unopened(&self, partition: &TopicPartition) {
        self.unopened.borrow_mut().remove(partition);
    }

    pub(super) fn is_ending(&self) -> bool {
        self.shared.has_failed() || self.closing.get()
    }

    pub(super) fn begin(&self, partition: &TopicPartition) -> Result<BusyName, StorageError> {
        if self.is_ending() {
            return Err(StorageError::Offline);
        }
        let exists = || StorageError::Exists(partition.clone());
        if self.logs.borrow().contains_key(partition) {
            return Err(exists());
        }
        self.busy.begin(partition).ok_or_else(exists)
    }
}

impl ClosedDir {
    pub(crate) fn ends(&self) -> impl Iterator<Item = (&TopicPartition, Offset)> {
        self.logs.iter().map(|(partition, at)| (partition, at.end))
    }
}
