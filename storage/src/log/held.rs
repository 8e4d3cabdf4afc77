//! The `writer` gate in the committer's hands.

use std::cell::Cell;
use std::rc::Rc;

use rt::fs::File;
use rt::sync::Permit;

use super::flush::Run;
use super::inner::LogInner;
use crate::{FilePos, LeaderEpoch};

/// A log whose `writer` gate the committer holds: neither cut nor rolled meanwhile.
///
/// There is one of a log at a time, shared by all that the committer has under way of it: a flush needn't wait for the frame before its
/// own, nor for what is being brought to the segment. Who waits for the gate gets it all the same: from then on nothing is begun
/// but frames, and these only while the segment is being written.
#[derive(Debug)]
pub(crate) struct Held {
    pub log: Rc<LogInner>,
    pub file: Rc<File>,
    writer: Option<Permit>,
    /// Whether its segment is being written in the background: two writes to one segment never overlap.
    pub placing: Cell<bool>,
    /// Up to where batches of the active segment are in frames that are on their way; 0 without one.
    issued: Cell<FilePos>,
    /// How many frames with batches of it are on their way.
    pub frames: Cell<usize>,
    /// A flush couldn't take the log: it goes back into the queue when this ends.
    passed_over: Cell<bool>,
}

impl LogInner {
    /// Takes the gate, or shares it with what the committer has under way of the log already. `None` while others have it:
    /// they put the log back into the queue.
    pub(crate) fn hold_for_flush(self: &Rc<Self>) -> Option<Rc<Held>> {
        let under_way = self.held.borrow().upgrade();
        if let Some(held) = under_way.as_ref().filter(|held| held.is_wanted() && !held.placing.get()) {
            held.pass_over();
            return None;
        }
        let held = under_way.or_else(|| self.begin_holding())?;
        (!self.is_offline()).then_some(held)
    }

    /// `None` also for a log at rest: nothing is admitted that a file isn't open for.
    fn begin_holding(self: &Rc<Self>) -> Option<Rc<Held>> {
        let writer = Some(self.writer.try_take(1)?);
        let file = self.core.borrow().active.file.clone()?;
        let held = Rc::new(Held {
            log: self.clone(),
            file,
            writer,
            placing: Cell::new(false),
            issued: Cell::new(FilePos(0)),
            frames: Cell::new(0),
            passed_over: Cell::new(false),
        });
        *self.held.borrow_mut() = Rc::downgrade(&held);
        Some(held)
    }
}

impl Held {
    /// Whether somebody else waits for the gate.
    pub(crate) fn is_wanted(&self) -> bool {
        self.log.writer.waiting() > 0
    }

    /// Whether its segment may be written by a flush: neither is it being written, nor are batches on their way to the journal, which
    /// would be written twice.
    pub(crate) fn is_free(&self) -> bool {
        !self.placing.get() && self.frames.get() == 0
    }

    /// What was appended to the active segment and is neither written nor on its way.
    pub(crate) fn unwritten(&self) -> Option<Run> {
        let core = self.log.core.borrow();
        let build = &core.active.build;
        let from = core.active.written.max(self.issued.get());
        if from.0 >= build.bytes {
            return None;
        }
        let first = core.tail.at(build.base, from);
        let first = first.expect("what is written ends at the end of a batch");
        let epoch = first.header().map_or(-1, |header| header.partition_leader_epoch);
        let end = FilePos(build.bytes);
        let leader_epoch = LeaderEpoch(epoch);
        Some(Run { segment: build.base, from, end, base: first.base, leader_epoch })
    }

    /// How many bytes of the active segment are to be written, and how many are in the journal only.
    pub(crate) fn pending_bytes(&self) -> (usize, usize) {
        let core = self.log.core.borrow();
        let active = &core.active;
        let from = active.written.max(self.issued.get());
        ((active.build.bytes - from.0) as usize, (active.written.0 - active.placed.0) as usize)
    }

    /// A frame with these batches is on its way.
    pub(crate) fn issue(&self, run: &Run) {
        self.issued.set(run.end);
        self.frames.set(self.frames.get() + 1);
    }

    /// That frame has arrived, or was lost.
    pub(crate) fn landed(&self) {
        self.frames.set(self.frames.get() - 1);
    }

    /// A flush leaves the log to a later one.
    pub(crate) fn pass_over(&self) {
        self.passed_over.set(true);
    }

    /// Syncs the segment: all that was written is durable then, by it or by the journal.
    ///
    /// To be called only after what the journal has of the log is in the segment or synced.
    pub(crate) async fn sync_segment(&self) {
        if self.log.is_offline() {
            return;
        }
        let upto = self.log.marks.written();
        let begun = rt::now();
        let synced = self.log.sync_file(&self.file).await;
        self.log.dir.stats.sync_time.record(rt::now() - begun);
        match synced {
            Ok(()) => self.log.segment_synced(upto),
            Err(error) => drop(self.log.fail("syncing", error)),
        }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        drop(self.writer.take());
        if self.passed_over.get() {
            self.log.dir.mark_dirty(&self.log);
        }
    }
}
