//! Removing old segments, as [`crate::retention`] decides, and closing the active one by its age.
//!
//! The log's start is moved first, durably. From then on what lies before it isn't served, whatever a crash leaves of its
//! files: a start looks at none of them, and the next look at the log finds them below the start. Then each segment leaves
//! the log, what is kept of it in memory goes, and its files are renamed `.deleted`; they go later
//! ([`crate::dir::doomed`]). Who reads a segment meanwhile reads on, or finds it gone and is told that the log starts
//! behind it.

use std::rc::Rc;

use super::handle::Log;
use super::inner::LogInner;
use crate::dir::doomed::Doomed;
use crate::dir::files;
use crate::dir::stats::add;
use crate::error::is_full;
use crate::retention::{Candidate, Reason, Sweep};
use crate::segment::names;
use crate::{Offset, ReadError, StorageError};

/// What a look at a log found to go.
#[derive(Debug, Default)]
struct Found {
    /// Closed segments, oldest first, each with the reason.
    segments: Vec<(Candidate, Reason)>,
    /// Whether the active one should go as well.
    with_active: bool,
}

impl Log {
    /// Closes the active segment if its first records came longer ago than `segment.ms`, also if none follow.
    ///
    /// # Errors
    /// As of [`Self::roll`].
    pub async fn roll_if_old(&self, now_ms: i64) -> Result<(), StorageError> {
        let log = &self.0;
        let is_due = log.core.borrow().active.is_due(&log.config(), now_ms);
        if is_due && !log.is_offline() { self.roll().await } else { Ok(()) }
    }

    /// Removes the segments that are too old or too much at `now_ms`, or lie below the log's start. None that isn't wholly
    /// below `high_watermark`. If all that there is goes, the active segment is closed first.
    ///
    /// May be dropped at any await; the next call goes on.
    ///
    /// # Errors
    /// `Offline`, `NoSpace` for the new start (nothing has gone then), `Io`.
    pub async fn retain(&self, high_watermark: Offset, now_ms: i64) -> Result<(), StorageError> {
        if self.0.is_offline() {
            return Err(StorageError::Offline);
        }
        let mut found = self.0.sweep(high_watermark, now_ms).await?;
        if found.with_active {
            match self.roll().await {
                // Anew: something may have been appended to it.
                Ok(()) => found = self.0.sweep(high_watermark, now_ms).await?,
                // The closed ones make room for it.
                Err(StorageError::NoSpace) if !found.segments.is_empty() => {}
                Err(error) => return Err(error),
            }
        }
        let Some((last, reason)) = found.segments.last() else { return Ok(()) };
        tracing::debug!(log = %self.0.partition, segments = found.segments.len(), upto = %last.end, ?reason, "old segments go");
        let mut advanced = self.advance_start_offset(last.end).await;
        if matches!(advanced, Err(StorageError::NoSpace)) && self.0.dir.give_up_ballast().await {
            advanced = self.advance_start_offset(last.end).await;
        }
        advanced?;
        for (segment, _) in found.segments {
            self.0.detached(move |log| async move { log.remove_segment(segment.base).await }).await?;
            rt::yield_point().await;
        }
        Ok(())
    }
}

impl LogInner {
    /// Looks for segments that go, oldest first, up to the first that stays. Anew, if the log was cut or segments were
    /// compacted meanwhile: what comes behind one that was looked at may have become a part of it, and stay.
    async fn sweep(&self, high_watermark: Offset, now_ms: i64) -> Result<Found, StorageError> {
        loop {
            while self.replaced(Offset(0), Offset(i64::MAX)).await {}
            let before = self.core.borrow().generation;
            let found = self.try_sweep(high_watermark, now_ms).await;
            if self.is_offline() {
                return Err(StorageError::Offline);
            }
            if self.core.borrow().generation == before {
                return found;
            }
        }
    }

    async fn try_sweep(&self, high_watermark: Offset, now_ms: i64) -> Result<Found, StorageError> {
        let config = self.config();
        let (mut sweep, mut at) = {
            let core = self.core.borrow();
            (Sweep::new(&config, core.start, high_watermark, core.bytes(), now_ms), Offset::ZERO)
        };
        let mut found = Found::default();
        while let Some(candidate) = self.candidate_from(at) {
            let reason = match sweep.by_place(&candidate) {
                None if sweep.goes_by_time(&candidate) => {
                    let newest_ms = self.newest_of(&candidate).await?;
                    sweep.by_time(&candidate, newest_ms)
                }
                reason => reason,
            };
            let Some(reason) = reason else { break };
            if candidate.is_active {
                found.with_active = true;
                break;
            }
            sweep.take(&candidate);
            at = candidate.end;
            found.segments.push((candidate, reason));
        }
        Ok(found)
    }

    /// The first segment that starts at `at` or behind, unless it is being closed: that one's turn comes.
    fn candidate_from(&self, at: Offset) -> Option<Candidate> {
        let core = self.core.borrow();
        if let Some((_, segment)) = core.closed.range(at..).next() {
            return Some(Candidate {
                base: segment.base,
                end: segment.end,
                bytes: segment.bytes,
                modified_ms: segment.modified_ms,
                is_active: false,
            });
        }
        let active = &core.active;
        core.closing.is_none().then(|| Candidate {
            base: active.build.base,
            end: core.end,
            bytes: active.build.bytes,
            modified_ms: active.modified_ms,
            is_active: true,
        })
    }

    /// The largest timestamp of a segment. A damaged one that doesn't tell is as one whose records have none.
    async fn newest_of(&self, candidate: &Candidate) -> Result<Option<i64>, StorageError> {
        let part = self.core.borrow().part_of(candidate.base);
        match self.max_timestamp_of(&part).await {
            Ok(newest) => Ok(newest.map(|(newest_ms, _)| newest_ms)),
            Err(ReadError::Corrupt { reason, .. }) => {
                tracing::warn!(log = %self.partition, base = %candidate.base, reason, "a segment's timestamps can't be read");
                Ok(None)
            }
            Err(ReadError::Io { what, source }) => Err(StorageError::io(what, source)),
            Err(ReadError::Offline | ReadError::OffsetOutOfRange { .. }) => Err(StorageError::Offline),
        }
    }

    /// Takes a closed segment below the log's start out of the log. Nothing if it isn't there any more.
    async fn remove_segment(self: &Rc<Self>, base: Offset) -> Result<(), StorageError> {
        let _space = self.space.take(1).await;
        let _files = self.files.take(1).await;
        if self.is_offline() {
            return Err(StorageError::Offline);
        }
        // What comes behind it stands on its own only once its producers and epochs are written.
        if let Err(error) = self.finish_small_files().await {
            let error = self.fail_unless_full("writing the index files of", error);
            if !matches!(error, StorageError::NoSpace) {
                return Err(error);
            }
        }
        let (is_there, is_last) = {
            let core = self.core.borrow();
            let segment = core.closed.get(&base).filter(|segment| segment.end <= core.start);
            (segment.is_some(), core.closed.len() == 1 && core.closing.is_none() && !core.active.exists)
        };
        if !is_there {
            return Ok(());
        }
        if is_last {
            self.name_active().await?;
        }
        let segment = {
            let mut core = self.core.borrow_mut();
            let Some(segment) = core.closed.remove(&base) else { return Ok(()) };
            core.removals += 1;
            segment
        };
        self.dir.forget_segment(self.id, base);
        self.compaction.first_timestamps.borrow_mut().remove(&base);
        self.unfinished.borrow_mut().iter_mut().for_each(|sealed| sealed.forget_indexes_of(base));
        self.changed.set(true);
        add(&self.dir.stats.deleted_segments, 1);
        add(&self.dir.stats.deleted_bytes, segment.bytes);
        let delay_ms = self.config().file_delete_delay_ms;
        let renamed = files::doom_segment(&self.path, base).await;
        self.dir.doomed.add(Doomed { dir: self.path.clone(), base }, delay_ms);
        self.dir.reap().await;
        renamed.map_err(|error| self.fail_on_device("renaming a segment of", error))
    }

    /// Gives the active segment its file, for the name tells where the log goes on. Without space for it our own checkpoint
    /// does.
    async fn name_active(&self) -> Result<(), StorageError> {
        let base = self.core.borrow().active.build.base;
        let path = self.file_path(base, names::LOG);
        let make = async {
            files::open_for_writing(&path, true, self.dir.config.direct_io).await?.close().await?;
            files::sync_dir(&self.path).await
        };
        match make.await {
            Ok(()) => self.core.borrow_mut().active.exists = true,
            Err(error) if is_full(&error) => {}
            Err(error) => return Err(self.fail_on_device("making the next segment of", error)),
        }
        Ok(())
    }
}
