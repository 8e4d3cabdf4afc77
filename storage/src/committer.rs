//! The one task of a shard and directory that flushes.
//!
//! Single flight: while a flush runs, what arrives waits; the next flush takes all of it. Under load a group
//! grows by itself; an idle log pays one write and one sync. The contract is final; that a flush writes
//! segments directly is not: a journal will stand between.

use std::rc::Rc;

use rt::fs::File;
use rt::sync::Permit;

use crate::Offset;
use crate::dir::shared::DirShared;
use crate::fan_out::fan_out;
use crate::limits::{FLUSH_WRITES_MAX, SYNCS_BEFORE_SYNCFS};
use crate::log::flush::Target;
use crate::log::inner::LogInner;
use crate::log::reserve::Lack;

/// A log whose written bytes are about to be synced. Its `writer` gate stays held, so that it isn't cut
/// meanwhile.
struct ToSync {
    log: Rc<LogInner>,
    file: Rc<File>,
    upto: Offset,
    _writer: Permit,
}

/// Flushes until the directory stops; then once more, and ends. After a failure of the directory nothing is
/// written any more.
pub(crate) async fn run(dir: Rc<DirShared>) {
    // Logs with written bytes that `flush.ms` will want synced.
    let mut waiting: Vec<Rc<LogInner>> = Vec::new();
    loop {
        let mut group = std::mem::take(&mut *dir.dirty.borrow_mut());
        let due = |log: &Rc<LogInner>| log.sync_deadline().is_none_or(|deadline| deadline <= rt::now());
        group.extend(waiting.extract_if(.., |log| due(log)));
        if dir.has_failed() || (group.is_empty() && dir.stopping.get()) {
            return;
        }
        if group.is_empty() {
            idle(&dir, &waiting).await;
            continue;
        }
        for log in &group {
            log.dirty.set(false);
        }
        let begun = rt::now();
        flush(&dir, &group).await;
        dir.stats.flush_time.record(rt::now() - begun);
        for log in group {
            if log.sync_deadline().is_some() && !waiting.iter().any(|other| Rc::ptr_eq(other, &log)) {
                waiting.push(log);
            }
        }
        dir.reap().await;
    }
}

async fn idle(dir: &DirShared, waiting: &[Rc<LogInner>]) {
    let moved = dir.dirty_moved.notified();
    match waiting.iter().filter_map(|log| log.sync_deadline()).min() {
        None => moved.await,
        // Woken or due: either way the next round looks.
        Some(deadline) => drop(rt::timeout(deadline.saturating_since(rt::now()), moved).await),
    }
}

async fn flush(dir: &Rc<DirShared>, group: &[Rc<LogInner>]) {
    let written = fan_out(group.to_vec(), FLUSH_WRITES_MAX, write).await;
    let to_sync: Vec<ToSync> = written.into_iter().flatten().collect();
    if to_sync.is_empty() || dir.has_failed() {
        return;
    }
    if to_sync.len() >= SYNCS_BEFORE_SYNCFS {
        let begun = rt::now();
        let synced = rt::fs::sync_fs(&dir.path).await;
        dir.stats.sync_time.record(rt::now() - begun);
        match synced {
            Ok(()) => to_sync.iter().for_each(|one| one.log.synced(one.upto)),
            Err(error) => dir.fail(format!("syncing {}: {error}", dir.path.display())),
        }
        return;
    }
    fan_out(to_sync, FLUSH_WRITES_MAX, sync).await;
}

/// Writes a log's tail. Gives what to sync, if the log wants that.
async fn write(log: Rc<LogInner>) -> Option<ToSync> {
    // Whoever holds the gate (a roll, a truncation) puts the log back into the queue when it is done.
    let writer = log.writer.try_take(1)?;
    if log.is_offline() {
        return None;
    }
    let Some(file) = log.core.borrow().active.file.clone() else {
        // Appended by reservations that outlived a roll: the new segment's file isn't there yet.
        if log.core.borrow().tail.unplaced_bytes() > 0 {
            log.make_space(Lack::Space, 1);
        }
        return None;
    };
    if let Err(error) = log.write_out(Target::Active).await {
        log.fail("writing", error);
        return None;
    }
    let upto = log.marks.written();
    log.wants_sync().then_some(ToSync { log, file, upto, _writer: writer })
}

async fn sync(one: ToSync) {
    let begun = rt::now();
    let synced = one.file.sync_data().await;
    one.log.dir.stats.sync_time.record(rt::now() - begun);
    match synced {
        Ok(()) => one.log.synced(one.upto),
        Err(error) => drop(one.log.fail("syncing", error)),
    }
}
