//! Floor frames: what was truncated, deleted, rolled, or has left the shard must not come back from the journal.

use std::io;
use std::rc::Rc;

use rt::fs::IoBuf;

use super::checkpoint;
use super::frame::{Entry, EntryKind, frame_bytes};
use super::state::{Draft, Lock, Put};
use crate::limits::BLOCK_BYTES;
use crate::log::inner::LogInner;
use crate::{FilePos, LeaderEpoch};

/// Voids all the journal has of a log, durably: to be called with the `writer` gate held, once what stays is in the
/// segments and synced and what goes is gone, and before anything else is acknowledged. Nothing if the journal
/// has nothing of it.
///
/// # Errors
/// Of the device. Never for want of space: it waits until the journal has room.
pub(crate) async fn write(log: &Rc<LogInner>) -> io::Result<()> {
    let journal = &log.dir.journal;
    if !journal.forget(log.id) {
        return Ok(());
    }
    #[cfg(feature = "mutants")]
    if log.dir.config.mutant == Some(crate::Mutant::NoFloorFrame) {
        return Ok(());
    }
    let entry = Entry {
        kind: EntryKind::Floor,
        topic_id: log.topic_id,
        partition: log.partition.partition,
        leader_epoch: LeaderEpoch::NONE,
        base: log.marks.appended(),
        segment: log.core.borrow().active.build.base,
        position: FilePos(0),
        bytes: 0,
    };
    while !try_write(log, &entry).await? {
        // What fills it is freed once it is in the segments and synced, which needs no space. No checkpoint waits for
        // logs that wait here.
        checkpoint::begin(&log.dir);
        journal.checkpoint_over().await;
        if log.dir.has_failed() {
            return Err(io::Error::other("the directory failed"));
        }
    }
    Ok(())
}

/// False if there is no room.
async fn try_write(log: &LogInner, entry: &Entry) -> io::Result<bool> {
    let journal = &log.dir.journal;
    let lock = journal.lock().await;
    if journal.closed.get() {
        return Ok(true);
    }
    let mut put = put_entry(log, &lock, entry).await?;
    if matches!(put, Put::Full) {
        // Of what isn't needed any more there may be much, if all that comes are frames like this one.
        journal.raise_floor();
        put = put_entry(log, &lock, entry).await?;
    }
    match put {
        Put::Full => Ok(false),
        Put::Written(_) => journal.sync(&lock).await.map(|()| true),
    }
}

async fn put_entry(log: &LogInner, lock: &Lock, entry: &Entry) -> io::Result<Put> {
    let mut buf = IoBuf::zeroed(BLOCK_BYTES);
    entry.encode(&mut buf, 0);
    let draft = Draft { buf, bytes: frame_bytes(1, 0), entries: 1, durable: true };
    log.dir.journal.put(lock, draft, 0).await
}
