//! The one task of a shard and directory that flushes.
//!
//! While a flush runs, what arrives waits; the next flush takes all of it. Under load a group grows by itself; an idle log pays one
//! durable write. Of flushes that are one durable frame of the journal and nothing else, the next one begins while the first is on its way.
//!
//! A flush has two parts at a time: the journal takes what most logs have to write, in one durable write
//! ([`crate::journal`]); logs with much to write, and all where there is no journal, are written and synced by
//! themselves. What logs have much of in the journal goes to their segments in the background: flushes go on meanwhile.
//!
//! A log whose `writer` gate is taken, or whose segment is being written, is passed over and forgotten: whoever holds the gate puts it
//! back into the queue ([`crate::log::writer`], [`crate::log::held`]). The committer itself never tries again what it can't do now.

use std::rc::Rc;

use crate::deadlines::Deadlines;
use crate::dir::shared::DirShared;
use crate::fan_out::fan_out;
use crate::journal::commit::{Committed, commit, fly};
use crate::journal::{checkpoint, files};
use crate::limits::{FLUSH_WRITES_MAX, SYNCS_BEFORE_SYNCFS, UNSYNCED_JOURNAL_LOGS_MIN};
use crate::log::flush::Target;
use crate::log::held::Held;
use crate::log::inner::LogInner;

/// How a log's part in a flush stands after its write.
enum Wrote {
    /// Nothing was written, or nothing more is wanted.
    Done,
    /// To be synced now.
    Sync(Rc<Held>),
    /// To be synced when `flush.ms` is over.
    Later(Rc<LogInner>),
}

/// Flushes until the directory stops; then once more, and ends. After a failure of the directory nothing is
/// written any more.
pub(crate) async fn run(dir: Rc<DirShared>) {
    let mut deadlines = Deadlines::default();
    loop {
        while dir.journal.is_flying_full() {
            dir.journal.landed.notified().await;
        }
        deadlines.due(rt::now(), |log| dir.mark_dirty(&log));
        let group = std::mem::take(&mut *dir.dirty.borrow_mut());
        if dir.has_failed() || (group.is_empty() && dir.stopping.get()) {
            drop(dir.journal.lock().await);
            dir.end_flushing();
            return;
        }
        checkpoint::begin_if_due(&dir);
        if group.is_empty() {
            idle(&dir, &deadlines).await;
            continue;
        }
        for log in &group {
            log.dirty.set(false);
        }
        for log in flush(&dir, group).await {
            deadlines.add(&log);
        }
        dir.reap().await;
        // A group of logs that are all busy or gone has awaited nothing.
        rt::yield_point().await;
    }
}

async fn idle(dir: &DirShared, deadlines: &Deadlines) {
    let moved = dir.dirty_moved.notified();
    let checkpoint = dir.journal.due_at().filter(|_| !dir.journal.checkpointing.get());
    match [deadlines.next(), checkpoint].into_iter().flatten().min() {
        None => moved.await,
        // Woken or due: either way the next round looks.
        Some(deadline) => drop(rt::timeout(deadline.saturating_since(rt::now()), moved).await),
    }
}

/// What a flush does at the same time.
enum Part {
    Journal(Vec<Rc<Held>>),
    Direct(Vec<Rc<Held>>),
}

/// Writes a group and syncs those of its logs that want it, or sends it on its way. Gives those that want it later.
async fn flush(dir: &Rc<DirShared>, group: Vec<Rc<LogInner>>) -> Vec<Rc<LogInner>> {
    let begun = rt::now();
    files::make_ahead(dir);
    let (mut journal, mut direct) = (Vec::new(), Vec::new());
    let mut journal_bytes = 0;
    for held in group.iter().filter_map(LogInner::hold_for_flush) {
        let (pending, _) = held.pending_bytes();
        if !dir.journal.takes(&held.log, pending, journal_bytes) {
            direct.push(held);
            continue;
        }
        journal_bytes += pending;
        journal.push(held);
    }
    if journal.len() < UNSYNCED_JOURNAL_LOGS_MIN && !journal.iter().any(|held| held.log.wants_all_synced()) {
        direct.append(&mut journal);
    }
    for held in &journal {
        let (_, journaled) = held.pending_bytes();
        if journaled >= dir.journal.direct_bytes() && !held.is_wanted() {
            place_in_background(held);
        }
    }
    if direct.is_empty() {
        match fly(dir, journal) {
            Ok(()) => return Vec::new(),
            Err(logs) => journal = logs,
        }
    }
    let later = flush_alone(dir, journal, direct).await;
    dir.stats.flush_time.record(rt::now() - begun);
    later
}

/// Writes a group, and waits for it.
async fn flush_alone(
    dir: &Rc<DirShared>,
    journal: Vec<Rc<Held>>,
    direct: Vec<Rc<Held>>,
) -> Vec<Rc<LogInner>> {
    if journal.is_empty() {
        return write_directly(dir, direct).await;
    }
    let parts = vec![Part::Journal(journal), Part::Direct(direct)];
    let mut later = Vec::new();
    let mut left = Vec::new();
    for committed in fan_out(parts, 2, |part| run_part(dir, part)).await {
        later.extend(committed.later);
        left.extend(committed.left);
    }
    later.extend(write_directly(dir, left).await);
    later
}

async fn run_part(dir: &Rc<DirShared>, part: Part) -> Committed {
    match part {
        Part::Journal(logs) => commit(dir, logs).await,
        Part::Direct(logs) => Committed { later: write_directly(dir, logs).await, left: Vec::new() },
    }
}

/// Brings what the journal has of a log to its segment, unless that is being done already.
fn place_in_background(held: &Rc<Held>) {
    if held.placing.replace(true) {
        return;
    }
    let held = held.clone();
    held.log.dir.clone().tasks.spawn(async move {
        let _slot = held.log.dir.placing.take(1).await;
        if !held.log.is_offline()
            && let Err(error) = held.log.place_blocks().await
        {
            held.log.fail("writing", error);
        }
        held.placing.set(false);
    });
}

/// Writes logs to their segments, and syncs those that want it. Gives those that want it later.
async fn write_directly(dir: &Rc<DirShared>, mut logs: Vec<Rc<Held>>) -> Vec<Rc<LogInner>> {
    logs.retain(|held| {
        let free = held.is_free();
        if !free {
            held.pass_over();
        }
        free
    });
    if logs.len() < SYNCS_BEFORE_SYNCFS {
        // Each is synced as soon as it is written: no log waits for the slowest write of the others.
        let later = fan_out(logs, FLUSH_WRITES_MAX, write_and_sync).await;
        return later.into_iter().flatten().collect();
    }
    let (mut to_sync, mut later) = (Vec::new(), Vec::new());
    for wrote in fan_out(logs, FLUSH_WRITES_MAX, write).await {
        match wrote {
            Wrote::Done => {}
            Wrote::Sync(one) => to_sync.push(one),
            Wrote::Later(log) => later.push(log),
        }
    }
    if to_sync.len() < SYNCS_BEFORE_SYNCFS {
        fan_out(to_sync, FLUSH_WRITES_MAX, |one: Rc<Held>| async move { one.sync_segment().await }).await;
    } else if !dir.has_failed() {
        let upto: Vec<_> = to_sync.iter().map(|one| one.log.marks.written()).collect();
        let begun = rt::now();
        let synced = dir.volume.sync().await;
        dir.stats.sync_time.record(rt::now() - begun);
        match synced {
            Ok(()) => to_sync.iter().zip(upto).for_each(|(one, upto)| one.log.segment_synced(upto)),
            Err(error) => dir.fail(format!("syncing {}: {error}", dir.path.display())),
        }
    }
    later
}

async fn write_and_sync(held: Rc<Held>) -> Option<Rc<LogInner>> {
    match write(held).await {
        Wrote::Done => None,
        Wrote::Sync(one) => {
            one.sync_segment().await;
            None
        }
        Wrote::Later(log) => Some(log),
    }
}

async fn write(held: Rc<Held>) -> Wrote {
    let log = held.log.clone();
    if let Err(error) = log.write_out(Target::Active).await {
        log.fail("writing", error);
        return Wrote::Done;
    }
    if log.wants_sync() {
        return Wrote::Sync(held);
    }
    drop(held);
    if log.sync_deadline().is_some() { Wrote::Later(log) } else { Wrote::Done }
}
