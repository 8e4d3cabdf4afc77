//! Cutting a log at its end, starting it anew, and moving its start.
//!
//! What is cut off must be gone from the medium before anything new is appended, or a crash could bring it
//! back behind the new records. So: memory first (readers and waiters see it at once), then the files, then a
//! sync; the gates keep the writer away meanwhile.

use std::rc::Rc;

use rt::fs::File;

use super::active::SegmentBuild;
use super::checkpoint::LogCheckpoint;
use super::core::Active;
use super::flush::Target;
use super::handle::Log;
use super::inner::LogInner;
use super::locate::{FilePart, read_error};
use crate::dir::files;
use crate::error::is_full;
use crate::producer::ProducerState;
use crate::segment::{SegmentReader, names};
use crate::{Offset, ReadError, StorageError};

impl Log {
    /// Drops the records at `end` and behind it, durably (a follower that diverged from its leader). A batch
    /// that holds `end` goes whole, and the log ends where the last batch that stays ends: before `end` also where
    /// compaction left a gap, for nothing would tell the next start of it. Nothing if the log ends at `end` or before.
    ///
    /// # Errors
    /// `OutOfRange` below the log's start; `Offline`, `Io`.
    pub async fn truncate_to(&self, end: Offset) -> Result<(), StorageError> {
        self.0.detached(move |log| async move { log.truncate_to(end).await }).await
    }

    /// Drops everything and lets the log go on at `start`, durably (a follower too far behind its leader).
    ///
    /// # Errors
    /// `Offline`, `Io`.
    pub async fn truncate_fully_and_start_at(&self, start: Offset) -> Result<(), StorageError> {
        self.0.detached(move |log| async move { log.restart_at(start).await }).await
    }

    /// Stops serving records before `start` (DeleteRecords, KIP-107), durably. Segments that lie wholly
    /// before it stay until retention takes them. Nothing if the log starts there or behind.
    ///
    /// # Errors
    /// `OutOfRange` behind the log's end; `Offline`, `Io`.
    pub async fn advance_start_offset(&self, start: Offset) -> Result<(), StorageError> {
        self.0.detached(move |log| async move { log.advance_start(start).await }).await
    }

    /// Writes down that everything synced so far is: after a crash, damage below is reported, not cut off.
    /// For a timer, each minute or so.
    ///
    /// # Errors
    /// `Offline`, `Io`.
    pub async fn checkpoint(&self) -> Result<(), StorageError> {
        self.0.detached(|log| async move { log.write_recovery_point().await }).await
    }
}

impl LogInner {
    async fn truncate_to(self: &Rc<Self>, end: Offset) -> Result<(), StorageError> {
        let _writer = self.hold_writer().await;
        let _space = self.space.take(1).await;
        let _files = self.files.take(1).await;
        if self.is_offline() {
            return Err(StorageError::Offline);
        }
        let _cutting = self.begin_cut();
        let (start, log_end, recovery_point) = {
            let core = self.core.borrow();
            (core.start, core.end, core.recovery_point)
        };
        if end >= log_end {
            // An epoch that got no record here may have been another leader's there.
            if self.core.borrow_mut().epochs.truncate_end(log_end) {
                self.changed.set(true);
            }
            return Ok(());
        }
        if end < start {
            return Err(StorageError::OutOfRange { offset: end, start, end: log_end });
        }
        // What stays must be in the file before its end is fixed.
        self.write_out(Target::Active).await.map_err(|error| self.fail("writing", error))?;
        let part = self.core.borrow().part_of(end);
        let (build, kept_end) = self.build_up_to(&part, end).await.map_err(|error| self.unreadable(error))?;
        // The batch that holds the log's start may go whole; the log doesn't end before it starts.
        let end = kept_end.max(start);
        if recovery_point > end {
            // Otherwise new records cut short by a crash would be taken for damage below the recovery point.
            self.write_checkpoint(LogCheckpoint { start, recovery_point: end }).await?;
        }
        self.forget_cleaned(end).await?;
        // All that may fail without harm is before the cut.
        let producers = self.producers_at(kept_end).await.map_err(|error| self.unreadable(error))?;
        // A crash right behind the cut must find no snapshot of what was cut off.
        let forgotten = self.remove_snapshots_behind(kept_end).await;
        forgotten.map_err(|error| self.fail("truncating", error))?;
        let (cut, gone) = self.cut_memory(&part, build, end, producers);
        self.cut_files(&cut, gone).await.map_err(|error| self.fail("truncating", error))?;
        self.segment_unsynced.set(false);
        self.leave_journal().await?;
        self.marks.advance_written(end);
        self.synced(end);
        Ok(())
    }

    fn unreadable(&self, error: ReadError) -> StorageError {
        StorageError::io(format!("truncating {}", self.path.display()), std::io::Error::other(error))
    }

    /// Cuts the log in memory, to the `build` of the segment that `part` is. Gives the segment that is active
    /// now, and those whose files must go.
    fn cut_memory(
        self: &Rc<Self>,
        part: &FilePart,
        build: SegmentBuild,
        end: Offset,
        producers: ProducerState,
    ) -> (Cut, Vec<Offset>) {
        let mut core = self.core.borrow_mut();
        let mut gone: Vec<Offset> = core.closed.range(part.base..).map(|(base, _)| *base).collect();
        if core.active.exists {
            gone.push(core.active.build.base);
        }
        gone.retain(|base| *base != part.base);
        core.closed.retain(|base, _| *base < part.base);
        let file = core.active.file.take();
        let exists = part.closed || core.active.exists || core.active.build.base != part.base;
        core.active = Active { exists, ..Active::found(build.clone()) };
        core.active.date(rt::unix_ms());
        let held = core.tail.held_bytes();
        core.tail.truncate(end);
        self.dir.released(held - core.tail.held_bytes());
        core.end = end;
        core.epochs.truncate_end(end);
        core.recovery_point = core.recovery_point.min(end);
        core.producers = producers;
        core.count_cut();
        drop(core);
        self.settle_cut(file, part.base);
        self.marks.cut(end);
        (Cut { build, exists }, gone)
    }

    /// The state of a segment as if it ended before the batch that holds `end`: its indexes cut, and the
    /// batches walked since. And where the log ends then: behind its last batch, or where the segment starts.
    async fn build_up_to(&self, part: &FilePart, end: Offset) -> Result<(SegmentBuild, Offset), ReadError> {
        let interval = self.config().index_interval_bytes;
        let mut build = if part.closed {
            let indexes = self.indexes(part).await?;
            SegmentBuild::cut(indexes.offsets.clone(), indexes.times.clone(), part.base, end)
        } else {
            let core = self.core.borrow();
            SegmentBuild::cut(
                core.active.build.index.clone(),
                core.active.build.times.clone(),
                part.base,
                end,
            )
        };
        let mut kept_end = part.base;
        if let Some(mut reader) = self.reader_of_all(part).await? {
            let path = self.file_path(part.base, names::LOG);
            let failed = |at, error| read_error(&path, at, error);
            let first = reader.header_at(0).await.map_err(|error| failed(0, error))?;
            build.first_timestamp_ms = first.filter(|_| build.bytes > 0).map(|header| header.max_timestamp);
            while let Some(header) =
                reader.header_at(build.bytes).await.map_err(|error| failed(build.bytes, error))?
            {
                if Offset(header.last_offset()) >= end {
                    return Ok((build, kept_end));
                }
                build.push(&header, interval);
                kept_end = Offset(header.next_offset());
                rt::yield_point().await;
            }
        }
        let tail_end = self.push_tail(&mut build, end, interval);
        Ok((build, tail_end.unwrap_or(kept_end)))
    }

    pub(crate) async fn reader_of_all(
        &self,
        part: &FilePart,
    ) -> Result<Option<SegmentReader<'_>>, ReadError> {
        if part.limit == 0 { Ok(None) } else { self.reader(part).await.map(Some) }
    }

    /// Goes on with batches that are in memory. Gives where the last one of them ends, if any is added.
    fn push_tail(&self, build: &mut SegmentBuild, end: Offset, interval: u32) -> Option<Offset> {
        let core = self.core.borrow();
        let first = core.tail.first_of(build.base)?;
        let (from, base) = (first.base, build.base);
        let mut kept_end = None;
        core.tail.visit(from, |batch| {
            if batch.segment != base || batch.last >= end {
                return false;
            }
            if batch.position.0 == build.bytes
                && let Ok(header) = batch.header()
            {
                build.push(&header, interval);
                kept_end = Some(batch.last.plus(1));
            }
            true
        });
        kept_end
    }

    async fn cut_files(&self, cut: &Cut, gone: Vec<Offset>) -> std::io::Result<()> {
        let base = cut.build.base;
        self.remove_segments(&gone).await?;
        // The segment is active now: its indexes are in memory.
        for suffix in [names::INDEX, names::TIME_INDEX] {
            files::remove(&self.file_path(base, suffix)).await?;
        }
        if cut.exists {
            let file =
                files::open_for_writing(&self.file_path(base, names::LOG), false, self.dir.config.direct_io)
                    .await?;
            let result = match file.set_len(cut.build.bytes).await {
                Ok(()) => self.sync_file(&file).await,
                Err(error) => Err(error),
            };
            file.close().await?;
            result?;
        }
        self.write_epochs().await?;
        files::sync_dir(&self.path).await
    }

    /// What a cut leaves to do in memory, from segment `base` on.
    fn settle_cut(&self, file: Option<Rc<File>>, base: Offset) {
        if let Some(file) = file {
            self.dir.retire(file);
        }
        // Read handles, pieces and indexes are of the log before it.
        self.dir.forget_log(self.id);
        self.unfinished.borrow_mut().retain(|sealed| sealed.next <= base);
        self.flush_wanted.set(self.flush_wanted.get().min(self.core.borrow().end));
        self.unsynced_since.set(None);
        self.segment_unsynced.set(false);
        self.count_pinned();
        self.changed.set(true);
    }

    /// Removes segments, the youngest first and each for good before the next: a crash in between leaves no
    /// gap.
    async fn remove_segments(&self, bases: &[Offset]) -> std::io::Result<()> {
        for base in bases.iter().rev() {
            files::remove_segment(&self.path, *base).await?;
        }
        Ok(())
    }

    async fn remove_snapshots_behind(&self, end: Offset) -> std::io::Result<()> {
        files::remove_snapshots_behind(&self.path, end).await
    }

    async fn restart_at(self: &Rc<Self>, start: Offset) -> Result<(), StorageError> {
        let _writer = self.hold_writer().await;
        let _space = self.space.take(1).await;
        let _files = self.files.take(1).await;
        if self.is_offline() {
            return Err(StorageError::Offline);
        }
        self.forget_cleaned(Offset(-1)).await?;
        // From here on the old records aren't served any more, whether or not a crash leaves their files.
        self.write_checkpoint(LogCheckpoint { start, recovery_point: Offset::ZERO }).await?;
        let (gone, file) = {
            let mut core = self.core.borrow_mut();
            let mut gone: Vec<Offset> = core.closed.keys().copied().collect();
            if core.active.exists {
                gone.push(core.active.build.base);
            }
            let file = core.active.file.take();
            core.closed.clear();
            core.active = Active::fresh(start);
            self.dir.released(core.tail.held_bytes());
            core.tail.clear();
            core.producers = ProducerState::default();
            core.epochs.clear();
            (core.start, core.end, core.recovery_point) = (start, start, Offset::ZERO);
            core.count_cut();
            (gone, file)
        };
        self.settle_cut(file, Offset::ZERO);
        // The checkpoint is on the medium: that the log is empty up to here is durable already.
        self.marks.restart(start);
        self.remake_files(start, gone).await.map_err(|error| self.fail("restarting", error))?;
        self.leave_journal().await
    }

    async fn remake_files(&self, start: Offset, gone: Vec<Offset>) -> std::io::Result<()> {
        self.remove_segments(&gone).await?;
        self.remove_snapshots_behind(Offset(-1)).await?;
        self.write_epochs().await?;
        // The name remembers where the log goes on, for Kafka; our checkpoint does so too.
        let path = self.file_path(start, names::LOG);
        match files::open_for_writing(&path, true, self.dir.config.direct_io).await {
            Ok(file) => file.close().await?,
            Err(error) if is_full(&error) => return Ok(()),
            Err(error) => return Err(error),
        }
        self.core.borrow_mut().active.exists = true;
        files::sync_dir(&self.path).await
    }

    async fn advance_start(self: &Rc<Self>, start: Offset) -> Result<(), StorageError> {
        let _files = self.files.take(1).await;
        if self.is_offline() {
            return Err(StorageError::Offline);
        }
        let (old, end, recovery_point) = {
            let core = self.core.borrow();
            (core.start, core.end, core.recovery_point)
        };
        if start > end {
            return Err(StorageError::OutOfRange { offset: start, start: old, end });
        }
        if start <= old {
            return Ok(());
        }
        self.write_checkpoint(LogCheckpoint { start, recovery_point }).await?;
        let mut core = self.core.borrow_mut();
        core.start = core.start.max(start);
        core.epochs.truncate_start(start);
        drop(core);
        self.changed.set(true);
        Ok(())
    }

    async fn write_recovery_point(self: &Rc<Self>) -> Result<(), StorageError> {
        let _files = self.files.take(1).await;
        if self.is_offline() {
            return Err(StorageError::Offline);
        }
        let finished = self.finish_small_files().await;
        finished.map_err(|error| self.fail_unless_full("writing the index files of", error))?;
        let (start, known, synced) = {
            let core = self.core.borrow();
            (core.start, core.recovery_point, self.marks.synced())
        };
        if synced <= known {
            return Ok(());
        }
        self.write_checkpoint(LogCheckpoint { start, recovery_point: synced }).await?;
        let mut core = self.core.borrow_mut();
        core.recovery_point = core.recovery_point.max(synced.min(core.end));
        Ok(())
    }

    pub(crate) async fn write_checkpoint(&self, checkpoint: LogCheckpoint) -> Result<(), StorageError> {
        let path = self.path.join(names::CHECKPOINT);
        let written = files::replace(&path, checkpoint.encode()).await;
        written.map_err(|error| self.fail_unless_full("writing the checkpoint of", error))
    }

    /// The log is about to be cut at `end`: what comes behind it isn't compacted, whatever was noted before.
    async fn forget_cleaned(&self, end: Offset) -> Result<(), StorageError> {
        self.compaction.first_timestamps.borrow_mut().clear();
        if self.compaction.cleaned.get().is_none_or(|cleaned| cleaned <= end) {
            return Ok(());
        }
        self.compaction.cleaned.set(None);
        let remove = async {
            files::remove(&self.path.join(names::CLEANED_UPTO)).await?;
            files::sync_dir(&self.path).await
        };
        remove.await.map_err(|error| self.fail("cutting", error))
    }

    /// Writes the epochs' file. On a full disk the old one stays, and the next roll or clean stop writes it:
    /// what it says beyond the end is dropped by a recovery, and what it misses is in the batches.
    async fn write_epochs(&self) -> std::io::Result<()> {
        let epochs = self.core.borrow().epochs.to_text();
        match files::replace(&self.path.join(names::EPOCHS), epochs).await {
            Err(error) if is_full(&error) => Ok(()),
            written => written,
        }
    }
}

struct Cut {
    build: SegmentBuild,
    exists: bool,
}
