//! The one task of a shard and directory that flushes.
//!
//! Single flight: while a flush runs, what arrives waits; the next flush takes all of it. Under load a group
//! grows by itself; an idle log pays one write and one sync. The contract is final; that a flush writes
//! segments directly is not: a journal will stand between.
//!
//! A log whose `writer` gate is taken is passed over and forgotten: whoever holds the gate puts it back into
//! the queue ([`crate::log::writer`]). The committer itself never tries again what it can't do now.

use std::rc::Rc;

use rt::fs::File;
use rt::sync::Permit;

use crate::Offset;
use crate::deadlines::Deadlines;
use crate::dir::shared::DirShared;
use crate::fan_out::fan_out;
use crate::limits::{FLUSH_WRITES_MAX, SYNCS_BEFORE_SYNCFS};
use crate::log::flush::Target;
use crate::log::inner::LogInner;

/// A log whose written bytes are about to be synced. Its `writer` gate stays held, so that it isn't cut
/// meanwhile.
struct ToSync {
    log: Rc<LogInner>,
    file: Rc<File>,
    upto: Offset,
    _writer: Permit,
}

/// How a log's part in a flush stands after its write.
enum Wrote {
    /// Nothing was written, or nothing more is wanted.
    Done,
    /// To be synced now.
    Sync(ToSync),
    /// To be synced when `flush.ms` is over.
    Later(Rc<LogInner>),
}

/// Flushes until the directory stops; then once more, and ends. After a failure of the directory nothing is
/// written any more.
pub(crate) async fn run(dir: Rc<DirShared>) {
    let mut deadlines = Deadlines::default();
    loop {
        deadlines.due(rt::now(), |log| dir.mark_dirty(&log));
        let group = std::mem::take(&mut *dir.dirty.borrow_mut());
        if dir.has_failed() || (group.is_empty() && dir.stopping.get()) {
            dir.end_flushing();
            return;
        }
        if group.is_empty() {
            idle(&dir, &deadlines).await;
            continue;
        }
        for log in &group {
            log.dirty.set(false);
        }
        let begun = rt::now();
        let later = flush(&dir, group).await;
        dir.stats.flush_time.record(rt::now() - begun);
        for log in later {
            deadlines.add(&log);
        }
        dir.reap().await;
        // A group of logs that are all busy or gone has awaited nothing.
        rt::yield_point().await;
    }
}

async fn idle(dir: &DirShared, deadlines: &Deadlines) {
    let moved = dir.dirty_moved.notified();
    match deadlines.next() {
        None => moved.await,
        // Woken or due: either way the next round looks.
        Some(deadline) => drop(rt::timeout(deadline.saturating_since(rt::now()), moved).await),
    }
}

/// Writes a group and syncs those of its logs that want it. Gives those that want it later.
async fn flush(dir: &Rc<DirShared>, group: Vec<Rc<LogInner>>) -> Vec<Rc<LogInner>> {
    if group.len() < SYNCS_BEFORE_SYNCFS {
        // Each is synced as soon as it is written: no log waits for the slowest write of the others.
        let later = fan_out(group, FLUSH_WRITES_MAX, write_and_sync).await;
        return later.into_iter().flatten().collect();
    }
    let (mut to_sync, mut later) = (Vec::new(), Vec::new());
    for wrote in fan_out(group, FLUSH_WRITES_MAX, write).await {
        match wrote {
            Wrote::Done => {}
            Wrote::Sync(one) => to_sync.push(one),
            Wrote::Later(log) => later.push(log),
        }
    }
    if to_sync.len() < SYNCS_BEFORE_SYNCFS {
        fan_out(to_sync, FLUSH_WRITES_MAX, sync).await;
    } else if !dir.has_failed() {
        let begun = rt::now();
        let synced = rt::fs::sync_fs(&dir.path).await;
        dir.stats.sync_time.record(rt::now() - begun);
        match synced {
            Ok(()) => to_sync.iter().for_each(|one| one.log.synced(one.upto)),
            Err(error) => dir.fail(format!("syncing {}: {error}", dir.path.display())),
        }
    }
    later
}

async fn write_and_sync(log: Rc<LogInner>) -> Option<Rc<LogInner>> {
    match write(log).await {
        Wrote::Done => None,
        Wrote::Sync(one) => {
            sync(one).await;
            None
        }
        Wrote::Later(log) => Some(log),
    }
}

async fn write(log: Rc<LogInner>) -> Wrote {
    let Some(writer) = log.writer.try_take(1) else { return Wrote::Done };
    if log.is_offline() {
        return Wrote::Done;
    }
    // Without a file it is at rest: nothing is admitted that a file isn't open for.
    let Some(file) = log.core.borrow().active.file.clone() else { return Wrote::Done };
    if let Err(error) = log.write_out(Target::Active).await {
        log.fail("writing", error);
        return Wrote::Done;
    }
    let upto = log.marks.written();
    if log.wants_sync() {
        return Wrote::Sync(ToSync { log, file, upto, _writer: writer });
    }
    drop(writer);
    if log.sync_deadline().is_some() { Wrote::Later(log) } else { Wrote::Done }
}

async fn sync(one: ToSync) {
    if one.log.is_offline() {
        return;
    }
    let begun = rt::now();
    let synced = one.file.sync_data().await;
    one.log.dir.stats.sync_time.record(rt::now() - begun);
    match synced {
        Ok(()) => one.log.synced(one.upto),
        Err(error) => drop(one.log.fail("syncing", error)),
    }
}
