//! Ending a log's use: a clean stop, or its deletion.

use std::io;
use std::path::PathBuf;
use std::rc::Rc;

use super::checkpoint::LogCheckpoint;
use super::flush::Target;
use super::handle::Log;
use super::inner::{LogInner, LogStatus};
use crate::dir::files;
use crate::journal::floor;
use crate::producer::snapshot;
use crate::segment::names;
use crate::{Offset, StorageError};

/// Where a closed log starts and ends, for the directory's files of offsets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClosedAt {
    /// The first offset served.
    pub start: Offset,
    /// The end, synced.
    pub end: Offset,
    /// Whether the log starts behind its first segment's start, which its files' names don't tell.
    pub start_is_inside: bool,
    /// Up to where it is compacted, if that is known.
    pub cleaned: Option<Offset>,
}

impl Log {
    /// Brings everything to disk in the form that Kafka leaves after a clean stop, and ends the log's use.
    /// Appends are refused from the first moment on; reservations still held are void.
    ///
    /// # Errors
    /// `Offline` if it was offline (also corrupt) already, `Io`.
    pub async fn close(&self) -> Result<ClosedAt, StorageError> {
        let log = &self.0;
        if log.is_offline() {
            return Err(StorageError::Offline);
        }
        log.refuse_appends();
        let _writer = log.writer.take(1).await;
        let _space = log.space.take(1).await;
        let _files = log.files.take(1).await;
        if log.is_offline() {
            return Err(StorageError::Offline);
        }
        let mut result = log.write_clean_state().await;
        if result.is_ok() && log.dir.journal.ending.get() {
            // All of it is in the segment, synced, and the journal goes.
            log.dir.journal.forget(log.id);
        } else if result.is_ok() {
            result = log.leave_journal().await;
        }
        let closed = {
            let core = log.core.borrow();
            let first = core.closed.keys().next().copied().unwrap_or(core.active.build.base);
            let cleaned = log.compaction.cleaned.get();
            ClosedAt { start: core.start, end: core.end, start_is_inside: core.start > first, cleaned }
        };
        log.set_status(LogStatus::Closed);
        log.release_memory();
        log.dir.reap().await;
        result.map(|()| closed)
    }
}

impl LogInner {
    async fn write_clean_state(self: &Rc<Self>) -> Result<(), StorageError> {
        self.write_out(Target::Active).await.map_err(|error| self.fail("writing", error))?;
        // The segment of a log at rest is placed, but perhaps durable by the journal alone.
        let is_journaled = self.dir.journal.is_needed_by(self.id);
        let (base, bytes, open, unfinished) = {
            let mut core = self.core.borrow_mut();
            let active = &mut core.active;
            let unfinished = active.preset_bytes != active.build.bytes || is_journaled;
            (active.build.base, active.build.bytes, active.file.take(), active.exists && unfinished)
        };
        if open.is_some() || unfinished {
            self.make_exact(base, bytes, open).await?;
            self.segment_synced(self.marks.written());
        }
        if !self.changed.get() {
            return Ok(());
        }
        let written = self.write_clean_files().await;
        written.map_err(|error| self.fail_unless_full("writing the small files of", error))
    }

    async fn write_clean_files(&self) -> io::Result<()> {
        let (base, exists, index, times, producers, epochs, checkpoint) = {
            let mut core = self.core.borrow_mut();
            core.active.build.seal();
            let build = &core.active.build;
            let checkpoint = LogCheckpoint { start: core.start, recovery_point: core.end };
            let producers = (core.end, snapshot::encode(&core.producers));
            let (index, times) = (build.index.to_file(), build.times.to_file());
            (build.base, core.active.exists, index, times, producers, core.epochs.to_text(), checkpoint)
        };
        self.finish_small_files().await?;
        files::replace(&self.path.join(names::EPOCHS), epochs).await?;
        if !exists && self.core.borrow().closed.is_empty() && checkpoint.recovery_point == Offset::ZERO {
            // Never written to.
            return Ok(());
        }
        files::replace(&self.path.join(names::CHECKPOINT), checkpoint.encode()).await?;
        self.remove_stray_snapshots().await?;
        files::replace(&self.file_path(producers.0, names::SNAPSHOT), producers.1).await?;
        if exists {
            files::replace(&self.file_path(base, names::TIME_INDEX), times).await?;
            files::replace(&self.file_path(base, names::INDEX), index).await?;
        }
        Ok(())
    }

    /// Removes the snapshots of earlier clean stops: those that don't stand at a segment's start.
    async fn remove_stray_snapshots(&self) -> io::Result<()> {
        let bases: Vec<Offset> = {
            let core = self.core.borrow();
            core.closed.keys().copied().chain([core.active.build.base]).collect()
        };
        for entry in files::list(&self.path).await? {
            let found = names::parse_file_name(&entry.name).filter(|(_, suffix)| *suffix == names::SNAPSHOT);
            if found.is_some_and(|(offset, _)| bases.binary_search(&offset).is_err()) {
                files::remove(&self.path.join(&entry.name)).await?;
            }
        }
        Ok(())
    }

    /// Gives back the memory of a log that isn't used any more.
    pub(crate) fn release_memory(&self) {
        let mut core = self.core.borrow_mut();
        self.dir.released(core.tail.held_bytes());
        core.tail.clear();
        let file = core.active.file.take();
        drop(core);
        self.count_pinned();
        self.dir.forget_log(self.id);
        if let Some(file) = file {
            self.dir.retire(file);
        }
        self.dir.logs.borrow_mut().remove(&self.id);
    }

    /// Ends the log for good: its directory is renamed at once, so that a new log of the same name can be
    /// made, and removed after. May be called again after `NoSpace`.
    pub(crate) async fn delete(self: &Rc<Self>) -> Result<(), StorageError> {
        let gone = self.put_away(names::DELETE_SUFFIX).await?;
        self.dir.remove_later(gone);
        Ok(())
    }

    /// Ends the log's use here, and renames its directory, which stays.
    pub(crate) async fn set_aside(self: &Rc<Self>) -> Result<(), StorageError> {
        let kept = self.put_away(names::STRAY_SUFFIX).await?;
        tracing::warn!(log = %self.partition, kept = %kept.display(), "a log was set aside");
        Ok(())
    }

    async fn put_away(self: &Rc<Self>, ending: &str) -> Result<PathBuf, StorageError> {
        let was_online = !self.is_offline();
        self.set_status(LogStatus::Deleted);
        // Waits for the flush, roll or truncation that is under way.
        let _writer = self.writer.take(1).await;
        let _space = self.space.take(1).await;
        let _files = self.files.take(1).await;
        if was_online && ending == names::STRAY_SUFFIX && !self.dir.has_failed() {
            self.finish_kept().await?;
        }
        // Its name may not be free for long: what the journal has of it mustn't keep that from being freed.
        self.dir.journal.give_up(self.id);
        self.release_memory();
        self.dir.reap().await;
        let gone = self.dir.path.join(names::put_away_dir_name(&self.partition, rt::random_bytes(), ending));
        let renamed = rt::fs::rename(&self.path, &gone).await;
        renamed.map_err(|error| self.fail_unless_full("renaming", error))?;
        files::sync_dir(&self.dir.path).await.map_err(|error| self.fail("renaming", error))?;
        self.leave_journal().await?;
        Ok(gone)
    }

    /// What is kept for the operator is kept whole: records that only memory and the journal have go to the segment.
    async fn finish_kept(self: &Rc<Self>) -> Result<(), StorageError> {
        match self.write_clean_state().await {
            // For its small files, which the segments tell too.
            Err(StorageError::NoSpace) => Ok(()),
            done => done,
        }
    }

    /// Voids what the journal has of the log: without that a crash could bring back what went.
    pub(crate) async fn leave_journal(self: &Rc<Self>) -> Result<(), StorageError> {
        floor::write(self).await.map_err(|error| self.fail("voiding the journal's part of", error))
    }
}

#[cfg(test)]
mod tests;
