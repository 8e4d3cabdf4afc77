//! The journal's part of a group flush.

use std::collections::VecDeque;
use std::rc::Rc;

use rt::fs::IoBuf;

use super::frame::{ENTRY_BYTES, Entry, EntryKind, HEADER_BYTES, frame_bytes};
use super::state::{Draft, Lock, Put};
use crate::dir::shared::DirShared;
use crate::dir::stats::add;
use crate::fan_out::fan_out;
use crate::limits::{BLOCK_BYTES, FLUSH_WRITES_MAX};
use crate::log::flush::Run;
use crate::log::held::Held;
use crate::log::inner::LogInner;

/// How the journal's part ended.
#[derive(Debug, Default)]
pub(crate) struct Committed {
    /// Logs it had no room for: nothing was done about them.
    pub left: Vec<Rc<Held>>,
    /// Logs to be synced later.
    pub later: Vec<Rc<LogInner>>,
}

/// Sends what the logs have to write on its way as one durable frame, beside others: acknowledged in the background once it and all before
/// it have arrived. Gives the logs back where it can't be, untouched: [`commit`] can do more, one at a time.
pub(crate) fn fly(dir: &Rc<DirShared>, logs: Vec<Rc<Held>>) -> Result<(), Vec<Rc<Held>>> {
    let is_durable_by_it = |held: &Rc<Held>| held.log.wants_all_synced() && !held.log.segment_unsynced.get();
    if !logs.iter().all(is_durable_by_it) {
        return Err(logs);
    }
    let bytes = logs.iter().map(|held| ENTRY_BYTES + held.pending_bytes().0).sum::<usize>() + HEADER_BYTES;
    let Some(flight) = dir.journal.fly(bytes) else { return Err(logs) };
    let mut queue: VecDeque<Rc<Held>> = logs.into();
    let (runs, bytes) = choose(dir, &mut queue, &mut Vec::new());
    assert!(queue.is_empty(), "a frame holds what was counted for it");
    if runs.is_empty() {
        return Ok(());
    }
    let draft = Draft { buf: fill(&runs, bytes), bytes, entries: runs.len(), durable: true };
    let written_bytes = draft.buf.len() as u64;
    #[cfg(feature = "mutants")]
    dir.journal.out_of_order.set(dir.config.mutant == Some(crate::Mutant::FramesOutOfOrder));
    let issued = dir.journal.issue(draft).expect("there is a file: there was room in it");
    runs.iter().for_each(|(held, run)| held.issue(run));
    let task_dir = dir.clone();
    dir.tasks.spawn(async move {
        let dir = task_dir;
        let begun = rt::now();
        let written = dir.journal.write(issued).await;
        dir.stats.sync_time.record(rt::now() - begun);
        dir.stats.flush_time.record(rt::now() - begun);
        runs.iter().for_each(|(held, _)| held.landed());
        match written {
            Ok(sequence) => {
                count_frame(&dir, written_bytes);
                for (held, run) in &runs {
                    dir.journal.note(&held.log, sequence);
                    held.log.journaled(run);
                    held.log.synced(held.log.marks.written());
                }
            }
            Err(error) => dir.fail(format!("writing the journal in {}: {error}", dir.path.display())),
        }
        drop(flight);
    });
    Ok(())
}

fn count_frame(dir: &DirShared, bytes: u64) {
    add(&dir.stats.journal_bytes, bytes);
    add(&dir.stats.journal_frames, 1);
}

/// Writes what the logs have to write as frames, and syncs them if any of the logs wants it.
pub(crate) async fn commit(dir: &Rc<DirShared>, logs: Vec<Rc<Held>>) -> Committed {
    let mut committed = Committed::default();
    if logs.is_empty() {
        return committed;
    }
    let lock = dir.journal.lock().await;
    let mut queue: VecDeque<Rc<Held>> = logs.into();
    let mut done = Vec::with_capacity(queue.len());
    while !queue.is_empty() {
        match write_frame(dir, &lock, &mut queue, &mut done).await {
            Ok(true) => {}
            Ok(false) => break,
            Err(error) => {
                dir.fail(format!("writing the journal in {}: {error}", dir.path.display()));
                return committed;
            }
        }
    }
    committed.left = queue.into();
    sync(dir, &lock, done, &mut committed.later).await;
    committed
}

/// Takes logs from the queue, as many as one frame holds, and writes that frame. False if it found no room.
async fn write_frame(
    dir: &DirShared,
    lock: &Lock,
    queue: &mut VecDeque<Rc<Held>>,
    done: &mut Vec<Rc<Held>>,
) -> std::io::Result<bool> {
    let (runs, bytes) = choose(dir, queue, done);
    if runs.is_empty() {
        return Ok(queue.is_empty());
    }
    let durable = runs.iter().any(|(held, _)| held.log.wants_all_synced());
    #[cfg(feature = "mutants")]
    let durable = durable && dir.config.mutant != Some(crate::Mutant::AckBeforeFlush);
    let buf = fill(&runs, bytes);
    let written_bytes = buf.len() as u64;
    let draft = Draft { buf, bytes, entries: runs.len(), durable };
    let begun = rt::now();
    let put = dir.journal.put(lock, draft, 1).await?;
    if dir.journal.is_durable() {
        dir.stats.sync_time.record(rt::now() - begun);
    }
    match put {
        Put::Full => {
            add(&dir.stats.journal_refused_logs, runs.len() as u64);
            for (held, _) in runs.into_iter().rev() {
                queue.push_front(held);
            }
            Ok(false)
        }
        Put::Written(sequence) => {
            count_frame(dir, written_bytes);
            for (held, run) in runs {
                dir.journal.note(&held.log, sequence);
                held.log.journaled(&run);
                done.push(held);
            }
            Ok(true)
        }
    }
}

/// The logs of the next frame, and its size. Logs with nothing to write are done.
fn choose(
    dir: &DirShared,
    queue: &mut VecDeque<Rc<Held>>,
    done: &mut Vec<Rc<Held>>,
) -> (Vec<(Rc<Held>, Run)>, usize) {
    let (mut runs, mut bytes) = (Vec::new(), HEADER_BYTES);
    while let Some(held) = queue.pop_front() {
        let Some(run) = held.unwritten() else {
            done.push(held);
            continue;
        };
        let more = ENTRY_BYTES + run.bytes();
        if bytes + more > dir.journal.config.frame_bytes_max() {
            // The next frame's; or it has grown since it was chosen for the journal, and no frame holds it any more.
            queue.push_front(held);
            break;
        }
        bytes += more;
        runs.push((held, run));
    }
    (runs, bytes)
}

fn fill(runs: &[(Rc<Held>, Run)], bytes: usize) -> IoBuf {
    let mut buf = IoBuf::to_fill(bytes.next_multiple_of(BLOCK_BYTES));
    let mut at = frame_bytes(runs.len(), 0);
    for (index, (held, run)) in runs.iter().enumerate() {
        let entry = Entry {
            kind: EntryKind::Data,
            topic_id: held.log.topic_id,
            partition: held.log.partition.partition,
            leader_epoch: run.leader_epoch,
            base: run.base,
            segment: run.segment,
            position: run.from,
            bytes: run.bytes() as u32,
        };
        entry.encode(&mut buf, index);
        let target = &mut buf[at..at + run.bytes()];
        let copied = held.log.core.borrow().tail.copy_range(run.segment, run.from, target);
        assert_eq!(copied, run.bytes(), "the tail holds all that isn't written");
        at += copied;
    }
    buf[at..].fill(0);
    buf
}

/// Syncs the journal if a log wants it; then what all of them have in it is durable.
async fn sync(dir: &DirShared, lock: &Lock, done: Vec<Rc<Held>>, later: &mut Vec<Rc<LogInner>>) {
    let (wanting, others): (Vec<_>, Vec<_>) = done.into_iter().partition(|held| held.log.wants_sync());
    later
        .extend(others.iter().filter(|held| held.log.sync_deadline().is_some()).map(|held| held.log.clone()));
    if wanting.is_empty() {
        return;
    }
    #[cfg(feature = "mutants")]
    if dir.config.mutant == Some(crate::Mutant::AckBeforeFlush) {
        wanting.iter().for_each(|held| held.log.synced(held.log.marks.written()));
    }
    if !dir.journal.is_durable() {
        let begun = rt::now();
        let synced = dir.journal.sync(lock).await;
        dir.stats.sync_time.record(rt::now() - begun);
        if let Err(error) = synced {
            return dir.fail(format!("syncing the journal in {}: {error}", dir.path.display()));
        }
    }
    // What was written past the journal isn't durable by its sync.
    let whole = |held: &Rc<Held>| !held.log.segment_unsynced.get();
    let (whole, parted): (Vec<_>, Vec<_>) = wanting.into_iter().chain(others).partition(whole);
    whole.iter().for_each(|held| held.log.synced(held.log.marks.written()));
    let parted = parted.into_iter().filter(|held| held.log.wants_sync()).collect();
    fan_out(parted, FLUSH_WRITES_MAX, |held: Rc<Held>| async move { held.sync_segment().await }).await;
}
