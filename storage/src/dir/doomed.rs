//! Files of segments that went, between their renaming and their removal (`file.delete.delay.ms`).
//!
//! Kept in memory only: a start removes every `.deleted` file it finds.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::rc::Rc;
use std::time::Duration;

use rt::Instant;
use rt::sync::Notify;

use super::files;
use super::shared::DirShared;
use crate::Offset;
use crate::limits::REMOVAL_PAUSE;

/// A segment whose files are to be removed.
#[derive(Debug, Clone)]
pub(crate) struct Doomed {
    /// The log's directory when they were renamed. Where another has that name by now, nothing of it has theirs.
    pub dir: PathBuf,
    /// The segment.
    pub base: Offset,
}

/// Those of a directory on one shard, by when they are due.
#[derive(Debug, Default)]
pub(crate) struct DoomedQueue {
    waiting: RefCell<BTreeMap<(Instant, u64), Doomed>>,
    added: Cell<u64>,
    moved: Notify,
}

impl DoomedQueue {
    pub(crate) fn add(&self, doomed: Doomed, delay_ms: u64) {
        let number = self.added.replace(self.added.get() + 1);
        let due = rt::now() + Duration::from_millis(delay_ms);
        self.waiting.borrow_mut().insert((due, number), doomed);
        self.moved.notify_waiters();
    }

    /// Whoever waits for the next one to be due looks whether it is.
    pub(crate) fn look_again(&self) {
        self.moved.notify_waiters();
    }

    /// The next one if it is due at `now`, or at once, or else when it is.
    fn take_due(&self, now: Instant, at_once: bool) -> Result<Doomed, Option<Instant>> {
        let mut waiting = self.waiting.borrow_mut();
        match waiting.first_entry() {
            Some(first) if at_once || first.key().0 <= now => Ok(first.remove()),
            first => Err(first.map(|first| first.key().0)),
        }
    }
}

/// Removes what is due, one segment at a time, for as long as the directory is in use. On a full disk nothing waits.
pub(crate) async fn remove_due(dir: Rc<DirShared>) {
    let queue = &dir.doomed;
    loop {
        let moved = queue.moved.notified();
        match queue.take_due(rt::now(), dir.room.refuses_writes()) {
            Ok(doomed) => {
                if let Err(error) = files::remove_doomed(&doomed.dir, doomed.base).await {
                    // The next start tries again.
                    tracing::warn!(%error, dir = %doomed.dir.display(), base = %doomed.base, "removing a deleted segment");
                }
                rt::sleep(REMOVAL_PAUSE).await;
            }
            Err(Some(due)) => drop(rt::timeout(due.saturating_since(rt::now()), moved).await),
            Err(None) => moved.await,
        }
    }
}
