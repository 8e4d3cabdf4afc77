//! The `writer` gate in other hands than the committer's.

use std::rc::Rc;

use rt::sync::Permit;

use super::inner::LogInner;

/// Held by what changes the bytes of the active segment besides the committer: rolls and cuts.
///
/// The committer passes over a log that is held and forgets it. So however the holder ends, the log goes back
/// into the committer's queue.
#[derive(Debug)]
pub(crate) struct WriterHold {
    log: Rc<LogInner>,
    permit: Option<Permit>,
}

impl LogInner {
    /// Takes the `writer` gate.
    pub(crate) async fn hold_writer(self: &Rc<Self>) -> WriterHold {
        let permit = Some(self.writer.take(1).await);
        WriterHold { log: self.clone(), permit }
    }
}

impl Drop for WriterHold {
    fn drop(&mut self) {
        drop(self.permit.take());
        self.log.dir.mark_dirty(&self.log);
    }
}
