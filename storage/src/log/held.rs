//! The `writer` gate in the committer's hands.

use std::cell::Cell;
use std::rc::Rc;

use rt::fs::File;
use rt::sync::Permit;

use super::inner::LogInner;

/// A log whose `writer` gate the committer holds: neither cut nor rolled meanwhile.
///
/// There is one of a log at a time, shared by all that the committer has under way of it: a flush needn't wait for what the
/// one before brings to the segment. Who waits for the gate gets it all the same: that only begins with a flush, so that the gate is
/// free at the end of the one in which it ends.
#[derive(Debug)]
pub(crate) struct Held {
    pub log: Rc<LogInner>,
    pub file: Rc<File>,
    writer: Option<Permit>,
    /// Whether its segment is being written in the background: two writes to one segment never overlap.
    pub placing: Cell<bool>,
    /// A flush couldn't take the log: it goes back into the queue when this ends.
    passed_over: Cell<bool>,
}

impl LogInner {
    /// Takes the gate, or shares it with what the committer has under way of the log already. `None` while others have it:
    /// they put the log back into the queue.
    pub(crate) fn hold_for_flush(self: &Rc<Self>) -> Option<Rc<Held>> {
        let under_way = self.held.borrow().upgrade();
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
            passed_over: Cell::new(false),
        });
        *self.held.borrow_mut() = Rc::downgrade(&held);
        Some(held)
    }
}

impl Held {
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
