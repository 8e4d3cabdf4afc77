//! When logs want to be synced by `flush.ms`.

use std::collections::BTreeMap;
use std::rc::{Rc, Weak};

use rt::Instant;

use crate::log::inner::LogInner;

/// Logs with written bytes that aren't to be synced yet, by when they are. A log is here once; one that is
/// gone, or was synced meanwhile, is left out when its time comes.
#[derive(Debug, Default)]
pub(crate) struct Deadlines(BTreeMap<(Instant, u64), Weak<LogInner>>);

impl Deadlines {
    /// Remembers the log's deadline, if it has one and none earlier is remembered. O(log n).
    pub(crate) fn add(&mut self, log: &Rc<LogInner>) {
        let Some(deadline) = log.sync_deadline() else { return };
        match log.sync_at.get() {
            Some(known) if known <= deadline => return,
            Some(known) => drop(self.0.remove(&(known, log.id))),
            None => {}
        }
        log.sync_at.set(Some(deadline));
        self.0.insert((deadline, log.id), Rc::downgrade(log));
    }

    /// Takes out the logs whose time has come, and hands those to `each` that still want a sync.
    pub(crate) fn due(&mut self, now: Instant, mut each: impl FnMut(Rc<LogInner>)) {
        while self.next().is_some_and(|deadline| deadline <= now) {
            let Some(log) = self.0.pop_first().and_then(|(_, log)| log.upgrade()) else { continue };
            log.sync_at.set(None);
            match log.sync_deadline() {
                Some(deadline) if deadline <= now => each(log),
                Some(_) => self.add(&log),
                None => {}
            }
        }
    }

    /// The earliest.
    pub(crate) fn next(&self) -> Option<Instant> {
        self.0.first_key_value().map(|((deadline, _), _)| *deadline)
    }
}
