//! Writing a shard's bookmarks in a directory.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

use super::file;
use super::mark::Bookmark;
use crate::dir::files;
use crate::dir::shared::DirShared;
use crate::error::is_device_error;
use crate::fan_out::fan_out;
use crate::journal::checkpoint::{Placed, sync_all};
use crate::limits::{BOOKMARK_AFTER_BYTES, BOOKMARKS_BYTES_MAX, FLUSH_WRITES_MAX};
use crate::log::flush::Target;
use crate::log::inner::LogInner;
use crate::{LogDir, Offset, StorageError};

/// The bookmarks that a shard's file in a directory holds.
#[derive(Debug, Default)]
pub(crate) struct Written {
    /// By the log's number in the shard.
    marks: RefCell<BTreeMap<u64, Rc<Bookmark>>>,
    /// A file is being written.
    is_busy: Cell<bool>,
}

/// A log and what is to be written of it.
struct Marking {
    log: Rc<LogInner>,
    bookmark: Rc<Bookmark>,
    /// Whether the file has it already.
    is_old: bool,
}

impl LogDir {
    /// Brings what the logs' last segments hold to the medium and writes down how a start after a crash goes on behind it. What is
    /// appended meanwhile isn't waited for. On a full disk the file stays as it was. Runs to its end even if the caller goes away.
    ///
    /// # Errors
    /// `Offline`, `Io`.
    pub async fn write_bookmarks(&self) -> Result<(), StorageError> {
        let (dir, logs) = (self.shared().clone(), self.logs());
        if self.is_ending() {
            return Err(StorageError::Offline);
        }
        if dir.bookmarks.is_busy.replace(true) {
            return Ok(());
        }
        let (done, result) = rt::sync::oneshot::channel();
        let task_dir = dir.clone();
        dir.tasks.spawn(async move {
            let written = write(&task_dir, logs.into_iter().map(|log| log.0).collect()).await;
            task_dir.bookmarks.is_busy.set(false);
            // The caller may have gone: then nobody wants the result.
            let _ = done.send(written);
        });
        result.recv().await.unwrap_or(Err(StorageError::Offline))
    }

    /// As [`Self::write_bookmarks`], if a start would have much to scan by now.
    ///
    /// # Errors
    /// As of [`Self::write_bookmarks`].
    pub async fn write_bookmarks_if_due(&self) -> Result<(), StorageError> {
        if self.unmarked_bytes() < BOOKMARK_AFTER_BYTES {
            return Ok(());
        }
        self.write_bookmarks().await
    }

    /// Bytes of last segments that lie behind their bookmarks.
    fn unmarked_bytes(&self) -> u64 {
        let marks = self.shared().bookmarks.marks.borrow();
        let unmarked = |log: &Rc<LogInner>| {
            let core = log.core.borrow();
            let build = &core.active.build;
            let marked = marks.get(&log.id).filter(|mark| mark.base == build.base.0);
            build.bytes.saturating_sub(marked.map_or(0, |mark| mark.bytes))
        };
        self.logs().iter().map(|log| unmarked(&log.0)).sum()
    }
}

async fn write(dir: &Rc<DirShared>, logs: Vec<Rc<LogInner>>) -> Result<(), StorageError> {
    let markings = mark(dir, logs).await;
    let (old, new): (Vec<Marking>, Vec<Marking>) = markings.into_iter().partition(|marking| marking.is_old);
    if new.is_empty() {
        return Ok(());
    }
    let placed = fan_out(new, FLUSH_WRITES_MAX, place).await;
    let (new, placed): (Vec<Marking>, Vec<Placed>) = placed.into_iter().flatten().unzip();
    #[cfg(feature = "mutants")]
    let skip_sync = dir.config.mutant == Some(crate::Mutant::BookmarkUnsynced);
    #[cfg(not(feature = "mutants"))]
    let skip_sync = false;
    if !skip_sync && !dir.has_failed() {
        let synced = sync_all(dir, &placed).await;
        synced.map_err(|error| failed(dir, "syncing", error))?;
    }
    if dir.has_failed() {
        return Err(StorageError::Offline);
    }
    let all = fitting(old.into_iter().chain(new));
    let content = file::encode(all.iter().map(|one| (&one.log.partition, one.log.topic_id, &*one.bookmark)));
    let path = dir.path.join(file::file_name(dir.config.journal.shard));
    let written = match content {
        Ok(content) => files::replace(&path, content).await,
        Err(reason) => Err(std::io::Error::other(reason)),
    };
    written.map_err(|error| match is_device_error(&error) {
        true => failed(dir, "writing the bookmarks of", error),
        false => StorageError::io(format!("writing {}", path.display()), error),
    })?;
    *dir.bookmarks.marks.borrow_mut() = all.into_iter().map(|one| (one.log.id, one.bookmark)).collect();
    Ok(())
}

fn failed(dir: &DirShared, what: &str, error: std::io::Error) -> StorageError {
    let what = format!("{what} {}", dir.path.display());
    dir.fail(format!("{what}: {error}"));
    StorageError::io(what, error)
}

/// The bookmarks of all logs as they are now; those that the file has already aren't made anew.
async fn mark(dir: &DirShared, logs: Vec<Rc<LogInner>>) -> Vec<Marking> {
    let mut markings = Vec::with_capacity(logs.len());
    for log in logs {
        // A log without a topic's id couldn't be told from another of its name.
        if log.is_offline() || log.is_future || log.topic_id.is_zero() {
            continue;
        }
        markings.extend(mark_one(dir, log));
        rt::yield_point().await;
    }
    markings
}

fn mark_one(dir: &DirShared, log: Rc<LogInner>) -> Option<Marking> {
    let (bookmark, is_old) = {
        let core = log.core.borrow();
        let known = dir.bookmarks.marks.borrow().get(&log.id).cloned();
        match known.filter(|mark| mark.is_of(&core.active.build)) {
            Some(known) => (known, true),
            None => (Rc::new(Bookmark::of(&core)?), false),
        }
    };
    Some(Marking { log, bookmark, is_old })
}

/// Brings what the bookmark speaks of to the segment. `None` if that isn't the last one any more.
async fn place(marking: Marking) -> Option<(Marking, Placed)> {
    let log = marking.log.clone();
    let _writer = log.hold_writer().await;
    let is_last = log.core.borrow().active.build.base == Offset(marking.bookmark.base);
    if log.is_offline() || !is_last {
        return None;
    }
    // Nothing that was cut off meanwhile.
    let upto = marking.bookmark.bytes.min(log.core.borrow().active.build.bytes);
    let file = log.core.borrow().active.file.clone();
    if file.is_some()
        && let Err(error) = log.write_upto(Target::Active, upto).await
    {
        log.fail("writing", error);
        return None;
    }
    Some((marking, Placed { log: log.clone(), file }))
}

/// As many as the file may hold.
fn fitting(markings: impl Iterator<Item = Marking>) -> Vec<Marking> {
    let mut left = BOOKMARKS_BYTES_MAX;
    let fits = |marking: &Marking| {
        let bytes = marking.bookmark.file_bytes();
        let fits = bytes <= left;
        left -= if fits { bytes } else { 0 };
        fits
    };
    markings.filter(fits).collect()
}
