//! Closing a segment and starting the next.
//!
//! A roll is a state of the log, not a race: from `begin_roll` on appends go to the new segment in memory,
//! and the old one has a fixed end. Then, in this order: the old file gets its last bytes, its exact length,
//! a sync; the new file is made; the old one's small files follow, the offset index last. A crash in between
//! leaves at most the last two segments to scan.

use std::rc::Rc;

use bytes::Bytes;
use rt::fs::File;
use rt::sync::Permit;

use super::flush::Target;
use super::handle::Log;
use super::inner::LogInner;
use crate::dir::files;
use crate::producer::snapshot;
use crate::segment::{OffsetIndex, TimeIndex, names};
use crate::{Offset, StorageError};

/// The small files of a segment that was closed, as they will be written.
struct Sealed {
    base: Offset,
    next: Offset,
    index: OffsetIndex,
    times: TimeIndex,
    producers: Bytes,
}

impl Log {
    /// Closes the active segment now, unless nothing was appended to it. Runs to its end even if the caller
    /// goes away.
    ///
    /// # Errors
    /// `Offline`, `NoSpace` for the next segment (the log goes on once there is space), `Io`.
    pub async fn roll(&self) -> Result<(), StorageError> {
        self.0.detached(|log| async move { log.roll(0).await }).await
    }
}

impl LogInner {
    /// Rolls, and makes space for `bytes` in the new segment.
    pub(crate) async fn roll(self: &Rc<Self>, bytes: u64) -> Result<(), StorageError> {
        let writer = self.writer.take(1).await;
        let space = self.space.take(1).await;
        // Waits for the small files of the roll before: they are written in order.
        let files = self.files.take(1).await;
        if self.is_offline() {
            return Err(StorageError::Offline);
        }
        if self.core.borrow().tail.unplaced_bytes() > 0 {
            // Appended by reservations that outlived the roll before: there may be no file yet.
            self.prepare_held(1).await?;
        }
        let producers = {
            let mut core = self.core.borrow_mut();
            if core.active.build.bytes == 0 {
                return Ok(());
            }
            core.begin_roll();
            self.roll_due.set(false);
            snapshot::encode(&core.producers)
        };
        let sealed = self.finish_closing(producers).await?;
        let prepared = if bytes > 0 { self.prepare_held(bytes).await } else { Ok(()) };
        drop((writer, space));
        self.dir.mark_dirty(self);
        let log = self.clone();
        self.dir.tasks.spawn(async move { log.write_small_files(sealed, files).await });
        prepared
    }

    /// Brings the closing segment to disk whole.
    async fn finish_closing(self: &Rc<Self>, producers: Bytes) -> Result<Sealed, StorageError> {
        // Without an open file the log was at rest: all of it is placed and synced.
        let open = self.core.borrow().closing.as_ref().and_then(|closing| closing.file.clone());
        if open.is_some() {
            self.write_out(Target::Closing).await.map_err(|error| self.fail("writing", error))?;
        }
        let (base, bytes) = {
            let core = self.core.borrow();
            let closing = core.closing.as_ref().ok_or(StorageError::Offline)?;
            assert_eq!(closing.placed.0, closing.build.bytes, "all of it is placed");
            (closing.build.base, closing.build.bytes)
        };
        self.make_exact(base, bytes, open).await?;
        let (mut sealed, next) = {
            let mut core = self.core.borrow_mut();
            let build =
                core.closing.as_ref().map(|closing| closing.build.clone()).ok_or(StorageError::Offline)?;
            core.end_roll();
            (build, core.active.build.base)
        };
        sealed.seal();
        self.synced(next.min(self.marks.written()));
        Ok(Sealed { base, next, index: sealed.index, times: sealed.times, producers })
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
        file.sync_data().await.map_err(|error| self.fail("syncing", error))?;
        self.dir.retire(file);
        Ok(())
    }

    async fn write_small_files(self: Rc<Self>, sealed: Sealed, _files: Permit) {
        if let Err(error) = self.try_write_small_files(&sealed).await {
            // They are caches but for the epochs, and those are in the batches too: recovery rebuilds what is
            // missing.
            self.fail("writing the index files of", error);
        }
    }

    async fn try_write_small_files(&self, sealed: &Sealed) -> std::io::Result<()> {
        let epochs = self.core.borrow().epochs.to_text();
        files::replace(&self.path.join(names::EPOCHS), epochs).await?;
        files::replace(&self.file_path(sealed.next, names::SNAPSHOT), sealed.producers.clone()).await?;
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
