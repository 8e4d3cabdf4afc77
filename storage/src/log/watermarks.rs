//! How far a log has come, for those who wait.

use std::cell::Cell;

use rt::sync::Notify;

use crate::{Offset, WaitError};

/// `appended >= written >= synced`: offsets after the last record that is in memory, in the file or the journal,
/// on the medium.
///
/// Only truncation lets them fall; whoever waited for an offset that was cut away is told so.
#[derive(Debug)]
pub struct Watermarks {
    appended: Cell<Offset>,
    written: Cell<Offset>,
    synced: Cell<Offset>,
    truncations: Cell<u64>,
    offline: Cell<bool>,
    written_moved: Notify,
    synced_moved: Notify,
}

impl Watermarks {
    /// A log that ends at `end`, all of it synced.
    pub(crate) fn new(end: Offset) -> Self {
        Self {
            appended: Cell::new(end),
            written: Cell::new(end),
            synced: Cell::new(end),
            truncations: Cell::new(0),
            offline: Cell::new(false),
            written_moved: Notify::new(),
            synced_moved: Notify::new(),
        }
    }

    /// The offset after the last record in memory: the log's end.
    pub fn appended(&self) -> Offset {
        self.appended.get()
    }

    /// The offset after the last record in the file or the journal: survives the process.
    pub fn written(&self) -> Offset {
        self.written.get()
    }

    /// The offset after the last record on the medium: survives power loss.
    pub fn synced(&self) -> Offset {
        self.synced.get()
    }

    /// Wakes whenever `written` moves, and when the log goes offline or is cut.
    pub fn written_moved(&self) -> &Notify {
        &self.written_moved
    }

    /// Wakes whenever `synced` moves, and when the log goes offline or is cut.
    pub fn synced_moved(&self) -> &Notify {
        &self.synced_moved
    }

    /// Waits until `written` reaches `offset`.
    ///
    /// # Errors
    /// The log went offline or was cut: what became of the records is not known.
    pub async fn wait_written(&self, offset: Offset) -> Result<(), WaitError> {
        self.wait(&self.written, &self.written_moved, offset).await
    }

    /// Waits until `synced` reaches `offset`.
    ///
    /// # Errors
    /// As for [`Self::wait_written`].
    pub async fn wait_synced(&self, offset: Offset) -> Result<(), WaitError> {
        self.wait(&self.synced, &self.synced_moved, offset).await
    }

    async fn wait(&self, mark: &Cell<Offset>, moved: &Notify, offset: Offset) -> Result<(), WaitError> {
        let truncations = self.truncations.get();
        loop {
            if self.truncations.get() != truncations {
                return Err(WaitError::Truncated);
            }
            if mark.get() >= offset {
                return Ok(());
            }
            if self.offline.get() {
                return Err(WaitError::Offline);
            }
            moved.notified().await;
        }
    }

    pub(crate) fn set_appended(&self, end: Offset) {
        self.appended.set(end);
    }

    pub(crate) fn advance_written(&self, upto: Offset) {
        if upto > self.written.get() {
            assert!(upto <= self.appended.get(), "written beyond the end");
            self.written.set(upto);
            self.written_moved.notify_waiters();
        }
    }

    pub(crate) fn advance_synced(&self, upto: Offset) {
        if upto > self.synced.get() {
            assert!(upto <= self.written.get(), "synced beyond what is written");
            self.synced.set(upto);
            self.synced_moved.notify_waiters();
        }
    }

    /// The log ends at `end` now. What stays may still be on its way to the medium: the other marks only fall.
    pub(crate) fn cut(&self, end: Offset) {
        self.appended.set(end);
        for mark in [&self.written, &self.synced] {
            mark.set(mark.get().min(end));
        }
        self.tell_cut();
    }

    /// The log is empty, durably, and goes on at `start`.
    pub(crate) fn restart(&self, start: Offset) {
        for mark in [&self.appended, &self.written, &self.synced] {
            mark.set(start);
        }
        self.tell_cut();
    }

    fn tell_cut(&self) {
        self.truncations.set(self.truncations.get() + 1);
        self.wake();
    }

    pub(crate) fn set_offline(&self) {
        self.offline.set(true);
        self.wake();
    }

    fn wake(&self) {
        self.written_moved.notify_waiters();
        self.synced_moved.notify_waiters();
    }
}
