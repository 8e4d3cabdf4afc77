//! Freeing the journal: what is in it goes to the segments, these are synced, and a frame says so.

use std::io;
use std::rc::Rc;

use rt::fs::{File, IoBuf};

use super::frame::frame_bytes;
use super::state::{Draft, Put};
use crate::dir::shared::DirShared;
use crate::dir::stats::add;
use crate::fan_out::fan_out;
use crate::limits::{BLOCK_BYTES, FLUSH_WRITES_MAX, SYNCS_BEFORE_SYNCFS};
use crate::log::flush::Target;
use crate::log::inner::LogInner;
use crate::unless::unless;

/// A log whose bytes are all in its segment.
struct Placed {
    log: Rc<LogInner>,
    /// `None` if it is at rest, its file closed.
    file: Option<Rc<File>>,
}

/// Begins a checkpoint in the background if it is time for one.
pub(crate) fn begin_if_due(dir: &Rc<DirShared>) {
    if dir.journal.wants_checkpoint() {
        begin(dir);
    }
}

/// Begins a checkpoint in the background, unless one is under way.
pub(crate) fn begin(dir: &Rc<DirShared>) {
    if dir.has_failed() || !dir.journal.begin_checkpoint() {
        return;
    }
    let task_dir = dir.clone();
    dir.tasks.spawn(async move {
        let dir = task_dir;
        if let Err(error) = run(&dir).await {
            dir.fail(format!("freeing the journal in {}: {error}", dir.path.display()));
        }
        dir.journal.checkpointing.set(false);
        dir.journal.work_ended.notify_waiters();
        // The committer may have seen before that there is more to free.
        dir.dirty_moved.notify_waiters();
    });
}

async fn run(dir: &Rc<DirShared>) -> io::Result<()> {
    let journal = &dir.journal;
    let upto = journal.next_sequence();
    let waiting = journal.waiting(upto);
    let placed = fan_out(waiting, FLUSH_WRITES_MAX, place).await;
    let placed: Vec<Placed> = placed.into_iter().flatten().collect();
    if dir.has_failed() {
        return Ok(());
    }
    #[cfg(feature = "mutants")]
    let skip_sync = dir.config.mutant == Some(crate::Mutant::FreeEarly);
    #[cfg(not(feature = "mutants"))]
    let skip_sync = false;
    if !skip_sync {
        sync(dir, &placed).await?;
    }
    if dir.has_failed() {
        return Ok(());
    }
    for one in &placed {
        journal.settle(one.log.id, upto);
    }
    let floor = journal.raise_floor();
    journal.checkpointed(floor, upto);
    add(&dir.stats.journal_checkpoints, 1);
    write_floor(dir, floor).await
}

/// Brings all that was written of a log to its segment. `None` if it ended: then it leaves the journal by itself.
async fn place(log: Rc<LogInner>) -> Option<Placed> {
    let journal = &log.dir.journal;
    // One that has left holds its gate while it writes its floor frame, and may wait for this checkpoint to make room.
    let _writer = unless(log.hold_writer(), &journal.left, || !journal.has_frames_of(log.id)).await?;
    if log.is_offline() {
        return None;
    }
    let (file, upto) = {
        let core = log.core.borrow();
        (core.active.file.clone(), core.active.written.0)
    };
    if file.is_some()
        && let Err(error) = log.write_upto(Target::Active, upto).await
    {
        log.fail("writing", error);
        return None;
    }
    Some(Placed { log, file })
}

/// One sync for all on the device; a few files are synced by themselves, which doesn't wait for what others write there.
async fn sync(dir: &DirShared, placed: &[Placed]) -> io::Result<()> {
    let files: Option<Vec<(Rc<LogInner>, Rc<File>)>> =
        placed.iter().map(|one| Some((one.log.clone(), one.file.clone()?))).collect();
    match files.filter(|files| files.len() < SYNCS_BEFORE_SYNCFS) {
        Some(files) => {
            let sync = |(log, file): (Rc<LogInner>, Rc<File>)| async move { log.sync_file(&file).await };
            fan_out(files, FLUSH_WRITES_MAX, sync).await.into_iter().collect()
        }
        None => dir.volume.sync().await,
    }
}

/// Writes down how far the journal isn't needed. Without room for it the next frame says it.
async fn write_floor(dir: &DirShared, floor: u64) -> io::Result<()> {
    let journal = &dir.journal;
    let lock = journal.lock().await;
    if journal.closed.get() {
        return Ok(());
    }
    let buf = IoBuf::zeroed(BLOCK_BYTES);
    let draft = Draft { buf, bytes: frame_bytes(0, 0), entries: 0, durable: true };
    if let Put::Written(_) = journal.put(&lock, draft, 0).await? {
        journal.sync(&lock).await?;
        journal.floor_is_durable(floor);
    }
    Ok(())
}
