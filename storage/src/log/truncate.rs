//! Cutting a log at its end, starting it anew, and moving its start.
//!
//! What is cut off must be gone from the medium before anything new is appended, or a crash could bring it
//! back behind the new records. So: memory first (readers and waiters see it at once), then the files, then a
//! sync; the gates keep the writer away meanwhile.

use std::rc::Rc;

use rt::fs::File;

use super::active::SegmentBuild;
use super::checkpoint::LogCheckpoint;
use super::core::{Active, producer_of};
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
    /// that holds `end` goes whole, and the log ends where it began. Nothing if the log ends there or before.
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
        let _writer = self.writer.take(1).await;
        let _space = self.space.take(1).await;
        let _files = self.files.take(1).await;
        let (start, log_end, recovery_point) = {
            let core = self.core.borrow();
            (core.start, core.end, core.recovery_point)
        };
        if self.is_offline() {
            return Err(StorageError::Offline);
        }
        if end >= log_end {
            return Ok(());
        }
        if end < start {
            return Err(StorageError::OutOfRange { offset: end, start, end: log_end });
        }
        // What stays must be in the file before its end is fixed.
        if self.core.borrow().tail.unplaced_bytes() > 0 {
            self.prepare_held(1).await?;
            self.write_out(Target::Active).await.map_err(|error| self.fail("writing", error))?;
        }
        let part = self.core.borrow().part_of(end);
        let (build, end) = self.build_up_to(&part, end).await.map_err(|error| {
            StorageError::io(format!("truncating {}", self.path.display()), std::io::Error::other(error))
        })?;
        // The batch that holds the log's start may go whole; the log doesn't end before it starts.
        let end = end.max(start);
        if recovery_point > end {
            // Otherwise new records cut short by a crash would be taken for damage below the recovery point.
            self.write_checkpoint(LogCheckpoint { start, recovery_point: end }).await?;
        }
        let (cut, gone) = self.cut_memory(&part, build, end);
        self.cut_files(&cut, gone).await.map_err(|error| self.fail("truncating", error))?;
        self.rebuild_producers(end).await?;
        self.marks.truncate(end);
        self.marks.set_appended(self.core.borrow().end);
        self.unsynced_since.set(None);
        self.changed.set(true);
        // Space for reservations made before, and the writer's hold on the last block.
        if cut.build.bytes > 0 { self.prepare_held(1).await } else { Ok(()) }
    }

    /// Cuts the log in memory, to the `build` of the segment that `part` is. Gives the segment that is active
    /// now, and those whose files must go.
    fn cut_memory(self: &Rc<Self>, part: &FilePart, build: SegmentBuild, end: Offset) -> (Cut, Vec<Offset>) {
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
        let held = core.tail.bytes();
        core.tail.truncate(end);
        self.dir.released(held - core.tail.bytes());
        core.end = end;
        core.epochs.truncate_end(end);
        core.recovery_point = core.recovery_point.min(end);
        core.generation += 1;
        drop(core);
        if let Some(file) = file {
            self.dir.retire(file);
        }
        self.marks.set_appended(end);
        (Cut { build, exists }, gone)
    }

    /// The state of a segment as if it ended before the batch that holds `end`: its indexes cut, and the
    /// batches walked since. And where the log ends then: at `end`, or where the batch starts that holds it.
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
        if let Some(mut reader) = self.reader_of_all(part).await? {
            let path = self.file_path(part.base, names::LOG);
            let failed = |at, error| read_error(&path, at, error);
            let first = reader.header_at(0).await.map_err(|error| failed(0, error))?;
            build.first_timestamp_ms = first.filter(|_| build.bytes > 0).map(|header| header.max_timestamp);
            while let Some(header) =
                reader.header_at(build.bytes).await.map_err(|error| failed(build.bytes, error))?
            {
                if Offset(header.last_offset()) >= end {
                    return Ok((build, end.min(Offset(header.base_offset))));
                }
                build.push(&header, interval);
                rt::yield_point().await;
            }
        }
        let end = self.push_tail(&mut build, end, interval);
        Ok((build, end))
    }

    async fn reader_of_all(&self, part: &FilePart) -> Result<Option<SegmentReader<'_>>, ReadError> {
        if part.limit == 0 { Ok(None) } else { self.reader(part).await.map(Some) }
    }

    /// Goes on with batches that are in memory. Gives where the log ends then.
    fn push_tail(&self, build: &mut SegmentBuild, end: Offset, interval: u32) -> Offset {
        let core = self.core.borrow();
        let Some(first) = core.tail.first_of(build.base) else { return end };
        let (from, base) = (first.base, build.base);
        let mut cut = end;
        core.tail.visit(from, |batch| {
            if batch.segment != base || batch.last >= end {
                cut = cut.min(batch.base);
                return false;
            }
            if batch.position.0 == build.bytes
                && let Ok(header) = batch.header()
            {
                build.push(&header, interval);
            }
            true
        });
        cut
    }

    async fn cut_files(&self, cut: &Cut, gone: Vec<Offset>) -> std::io::Result<()> {
        let base = cut.build.base;
        self.remove_segments(&gone).await?;
        // The segment is active now: its indexes are in memory.
        for suffix in [names::INDEX, names::TIME_INDEX] {
            files::remove(&self.file_path(base, suffix)).await?;
        }
        self.dir.forget((self.id, base, self.core.borrow().generation - 1));
        if cut.exists {
            let file =
                files::open_for_writing(&self.file_path(base, names::LOG), false, self.dir.config.direct_io)
                    .await?;
            let result = set_len_and_sync(&file, cut.build.bytes).await;
            file.close().await?;
            result?;
        }
        self.write_epochs().await?;
        let end = self.core.borrow().end;
        self.remove_snapshots_behind(end).await?;
        files::sync_dir(&self.path).await
    }

    /// Removes segments, the youngest first and each for good before the next: a crash in between leaves no
    /// gap.
    async fn remove_segments(&self, bases: &[Offset]) -> std::io::Result<()> {
        for base in bases.iter().rev() {
            files::remove_segment(&self.path, *base).await?;
            self.dir.forget((self.id, *base, self.core.borrow().generation - 1));
        }
        Ok(())
    }

    async fn remove_snapshots_behind(&self, end: Offset) -> std::io::Result<()> {
        for entry in files::list(&self.path).await? {
            let found = names::parse_file_name(&entry.name);
            if found.is_some_and(|(offset, suffix)| suffix == names::SNAPSHOT && offset > end) {
                files::remove(&self.path.join(&entry.name)).await?;
            }
        }
        Ok(())
    }

    async fn restart_at(self: &Rc<Self>, start: Offset) -> Result<(), StorageError> {
        let _writer = self.writer.take(1).await;
        let _space = self.space.take(1).await;
        let _files = self.files.take(1).await;
        if self.is_offline() {
            return Err(StorageError::Offline);
        }
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
            self.dir.released(core.tail.bytes());
            core.tail.clear();
            core.producers = ProducerState::default();
            core.epochs.clear();
            (core.start, core.end, core.recovery_point) = (start, start, Offset::ZERO);
            core.generation += 1;
            (gone, file)
        };
        if let Some(file) = file {
            self.dir.retire(file);
        }
        self.marks.set_appended(start);
        self.remake_files(start, gone).await.map_err(|error| self.fail("restarting", error))?;
        self.marks.truncate(start);
        self.unsynced_since.set(None);
        self.changed.set(true);
        self.prepare_held(1).await
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

    /// Writes the epochs' file. On a full disk the old one stays, and the next roll or clean stop writes it:
    /// what it says beyond the end is dropped by a recovery, and what it misses is in the batches.
    async fn write_epochs(&self) -> std::io::Result<()> {
        let epochs = self.core.borrow().epochs.to_text();
        match files::replace(&self.path.join(names::EPOCHS), epochs).await {
            Err(error) if is_full(&error) => Ok(()),
            written => written,
        }
    }

    /// Producer state as of the log's end: from the last snapshot before it, and the batches since.
    async fn rebuild_producers(self: &Rc<Self>, end: Offset) -> Result<(), StorageError> {
        let broken = |error: ReadError| {
            StorageError::io(format!("reading {}", self.path.display()), std::io::Error::other(error))
        };
        let loaded = super::recover::load_snapshot(&self.path, end).await;
        let (mut producers, mut at) =
            loaded.map_err(|error| StorageError::io(format!("reading {}", self.path.display()), error))?;
        let (start, parts) = {
            let core = self.core.borrow();
            (core.start, core.parts())
        };
        at = at.max(parts.first().map_or(start, |part| part.base));
        for part in parts.into_iter().filter(|part| part.end > at) {
            let Some(mut reader) = self.reader_of_all(&part).await.map_err(broken)? else { continue };
            let path = self.file_path(part.base, names::LOG);
            let mut position = self.floor(&part, at).await.map_err(broken)?.0;
            while let Some(header) = reader
                .header_at(position)
                .await
                .map_err(|error| broken(read_error(&path, position, error)))?
            {
                position += header.total_bytes() as u64;
                if Offset(header.base_offset) >= at
                    && let Some(batch) = producer_of(&header)
                {
                    producers.record(&batch);
                }
                rt::yield_point().await;
            }
        }
        let mut core = self.core.borrow_mut();
        let from_memory = core.tail.first_of(core.active.build.base).map(|first| first.base);
        if let Some(first) = from_memory {
            core.tail.visit(first, |batch| {
                if let Ok(header) = batch.header()
                    && batch.base >= at
                    && let Some(batch) = producer_of(&header)
                {
                    producers.record(&batch);
                }
                true
            });
        }
        core.producers = producers;
        Ok(())
    }
}

struct Cut {
    build: SegmentBuild,
    exists: bool,
}

async fn set_len_and_sync(file: &File, bytes: u64) -> std::io::Result<()> {
    file.set_len(bytes).await?;
    file.sync_data().await
}
