//! Closing a segment and starting the next.
//!
//! A roll is a state of the log, not a race. First the new file is made under a passing name, with space for
//! what is reserved: a full disk is met here, and changes nothing. From `begin_roll` on appends go to the new
//! segment in memory, and the old one has a fixed end. Then, in this order: the old file gets its last bytes,
//! its exact length, a sync; the new file gets its name; the old one's small files follow, the offset index
//! last. A crash in between leaves at most the last two segments to scan.

use std::rc::Rc;

use bytes::Bytes;
use rt::fs::File;
use rt::sync::Permit;

use super::flush::Target;
use super::handle::Log;
use super::inner::LogInner;
use crate::dir::files;
use crate::error::is_full;
use crate::limits::{NAME_RETRY_AFTER, UNFINISHED_MAX};
use crate::producer::snapshot;
use crate::segment::{OffsetIndex, TimeIndex, names};
use crate::{Offset, StorageError};

/// The small files of a segment that was closed, as they will be written.
#[derive(Debug)]
pub(crate) struct Sealed {
    base: Offset,
    pub next: Offset,
    index: OffsetIndex,
    times: TimeIndex,
    producers: Bytes,
    /// The segment went since: only what the next one needs is written.
    is_gone: bool,
}

impl Sealed {
    /// Segment `base` goes.
    pub(crate) fn forget_indexes_of(&mut self, base: Offset) {
        self.is_gone |= self.base == base;
    }
}

impl Log {
    /// Closes the active segment now, unless nothing was appended to it. Runs to its end even if the caller
    /// goes away.
    ///
    /// # Errors
    /// `Offline`, `NoSpace` for the next segment (nothing was changed then), `Io`.
    pub async fn roll(&self) -> Result<(), StorageError> {
        self.0.detached(|log| async move { log.roll(0).await }).await
    }
}

impl LogInner {
    /// Rolls, with space for `bytes` in the new segment.
    pub(crate) async fn roll(self: &Rc<Self>, bytes: u64) -> Result<(), StorageError> {
        let writer = self.hold_writer().await;
        let space = self.space.take(1).await;
        // Waits for the small files of the roll before: they are written in order.
        let files = self.files.take(1).await;
        if self.is_offline() {
            return Err(StorageError::Offline);
        }
        if self.core.borrow().active.build.bytes == 0 {
            return Ok(());
        }
        let next = self.make_next(bytes).await?;
        // No await from here to `begin_roll`: what is reserved now has its space in the next file.
        let is_named = next.is_none();
        let producers = {
            let mut core = self.core.borrow_mut();
            core.begin_roll(next);
            self.roll_due.set(false);
            snapshot::encode(&core.producers)
        };
        let sealed = self.finish_closing(producers, is_named).await?;
        drop((writer, space));
        let log = self.clone();
        self.dir.tasks.spawn(async move { log.write_small_files(sealed, files).await });
        Ok(())
    }

    /// The next segment's file, with space for what is reserved and `bytes` more; `None` if that is nothing.
    async fn make_next(&self, bytes: u64) -> Result<Option<(Rc<File>, u64)>, StorageError> {
        if self.reserved.get() + bytes == 0 {
            return Ok(None);
        }
        let path = self.path.join(names::NEXT);
        let make = async {
            // A crash or a full disk may have left one.
            files::remove(&path).await?;
            files::open_for_writing(&path, true, self.dir.config.direct_io).await
        };
        let file = make.await.map_err(|error| self.fail_on_device("making the next segment of", error))?;
        let mut granted = 0;
        while granted < self.reserved.get() + bytes {
            let need = self.reserved.get() + bytes;
            match self.allocate(&file, need, granted, true).await {
                Ok(more) => granted = more,
                Err(error) => {
                    // Both as well as may be: the name is used again, and goes at the next start.
                    let _ = file.close().await;
                    let _ = files::remove(&path).await;
                    return Err(error);
                }
            }
        }
        Ok(Some((Rc::new(file), granted)))
    }

    /// Brings the closing segment to disk whole, and gives the next one's file its name.
    async fn finish_closing(
        self: &Rc<Self>,
        producers: Bytes,
        is_named: bool,
    ) -> Result<Sealed, StorageError> {
        // Without an open file the log was at rest: all of it is placed and synced.
        let open = self.core.borrow().closing.as_ref().and_then(|closing| closing.file.clone());
        if open.is_some() {
            self.write_out(Target::Closing).await.map_err(|error| self.fail("writing", error))?;
        }
        let (base, bytes, next) = {
            let core = self.core.borrow();
            let closing = core.closing.as_ref().ok_or(StorageError::Offline)?;
            assert_eq!(closing.placed.0, closing.build.bytes, "all of it is placed");
            (closing.build.base, closing.build.bytes, core.active.build.base)
        };
        self.make_exact(base, bytes, open).await?;
        self.segment_unsynced.set(false);
        // From here on nothing writes to the old segment, not even a replay.
        self.leave_journal().await?;
        if !is_named {
            let named = self.name_next(next).await;
            named.map_err(|error| self.fail("naming the next segment of", error))?;
        }
        let mut sealed = {
            let mut core = self.core.borrow_mut();
            let build =
                core.closing.as_ref().map(|closing| closing.build.clone()).ok_or(StorageError::Offline)?;
            core.end_roll();
            build
        };
        sealed.seal();
        self.synced(next.min(self.marks.written()));
        Ok(Sealed { base, next, index: sealed.index, times: sealed.times, producers, is_gone: false })
    }

    /// Gives the next segment's file its name. While a full disk has no room for that in the directory, what was
    /// appended to it waits.
    async fn name_next(&self, next: Offset) -> std::io::Result<()> {
        let (from, to) = (self.path.join(names::NEXT), self.file_path(next, names::LOG));
        while let Err(error) = rt::fs::rename(&from, &to).await {
            if !is_full(&error) || self.dir.has_failed() || self.dir.journal.ending.get() {
                return Err(error);
            }
            tracing::warn!(log = %self.partition, "no space left for the next segment's name");
            rt::sleep(NAME_RETRY_AFTER).await;
        }
        files::sync_dir(&self.path).await
    }

    /// Gives a segment's file its exact length and syncs it; `open` is its file if it is open for writing.
    pub(crate) async fn make_exact(
        &self,
        base: Offset,
        bytes: u64,
        open: Option<Rc<File>>,
    ) -> Result<(), StorageError> {
        let file = match open {
            Some(file) => file,
            None => {
                let path = self.file_path(base, names::LOG);
                let opened = files::open_for_writing(&path, false, self.dir.config.direct_io).await;
                Rc::new(opened.map_err(|error| self.fail("opening a segment of", error))?)
            }
        };
        file.set_len(bytes).await.map_err(|error| self.fail("cutting", error))?;
        self.sync_file(&file).await.map_err(|error| self.fail("syncing", error))?;
        self.dir.retire(file);
        Ok(())
    }

    async fn write_small_files(self: Rc<Self>, sealed: Sealed, _files: Permit) {
        self.add_unfinished(sealed);
        if let Err(error) = self.finish_small_files().await {
            self.fail_unless_full("writing the index files of", error);
        }
    }

    /// They are caches but for the epochs, and those are in the batches too: reads and recovery rebuild what is
    /// missing. So a full disk costs time only, and of many the oldest are given up.
    fn add_unfinished(&self, sealed: Sealed) {
        let mut unfinished = self.unfinished.borrow_mut();
        if unfinished.len() == UNFINISHED_MAX {
            unfinished.pop_front();
        }
        unfinished.push_back(sealed);
    }

    /// Writes the small files that are still to be written, oldest first; with the `files` gate held. At a
    /// roll, at checkpoints, at a clean stop: so what a full disk kept back is tried again.
    pub(crate) async fn finish_small_files(&self) -> std::io::Result<()> {
        loop {
            let first = self.unfinished.borrow_mut().pop_front();
            let Some(sealed) = first else { return Ok(()) };
            if let Err(error) = self.try_write_small_files(&sealed).await {
                self.unfinished.borrow_mut().push_front(sealed);
                return Err(error);
            }
        }
    }

    async fn try_write_small_files(&self, sealed: &Sealed) -> std::io::Result<()> {
        let epochs = self.core.borrow().epochs.to_text();
        files::replace(&self.path.join(names::EPOCHS), epochs).await?;
        files::replace(&self.file_path(sealed.next, names::SNAPSHOT), sealed.producers.clone()).await?;
        if sealed.is_gone {
            return Ok(());
        }
        files::replace(&self.file_path(sealed.base, names::TIME_INDEX), sealed.times.to_file()).await?;
        // Last: its presence says that the others are there.
        files::replace(&self.file_path(sealed.base, names::INDEX), sealed.index.to_file()).await
    }

    /// Runs an operation as a task of the directory, so that it ends whole even if the caller is dropped.
    pub(crate) async fn detached<F>(
        self: &Rc<Self>,
        make: impl FnOnce(Rc<Self>) -> F,
    ) -> Result<(), StorageError>
    where
        F: Future<Output = Result<(), StorageError>> + 'static,
    {
        let (done, result) = rt::sync::oneshot::channel();
        let work = make(self.clone());
        self.dir.tasks.spawn(async move {
            // The caller may have gone: then nobody wants the result.
            let _ = done.send(work.await);
        });
        result.recv().await.unwrap_or(Err(StorageError::Offline))
    }
}
