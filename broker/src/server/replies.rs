//! [`Replies`]: the requests of one connection that are under way, answered in their order.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::pin::Pin;
use std::task::Waker;

use bytes::Bytes;
use rt::sync::{Notify, Permit};

use super::frame::FrameMemory;
use crate::metrics::RequestClock;

/// Requests of a connection that are under way; a client with more waits.
const REQUESTS_MAX: usize = 64;
/// Answers of a connection that aren't sent yet, in bytes; beyond it no further Produce is taken. So what a client that never reads its
/// acknowledgements can make the broker hold is bounded by this and the answers of [`REQUESTS_MAX`] requests.
const UNSENT_BYTES_MAX: usize = 64 << 10;

/// What becomes of a request.
#[derive(Debug)]
pub enum Reply {
    /// This is sent. The memory it is counted in, if some was taken for it already.
    Send(Vec<Bytes>, Option<Permit>),
    /// Nothing: acks=0.
    Nothing,
    /// The connection is closed, after what was answered before.
    Close,
}

impl Reply {
    /// The same, with the memory that was taken for it.
    pub fn counted_in(self, memory: Option<Permit>) -> Reply {
        match self {
            Reply::Send(bufs, _) => Reply::Send(bufs, memory),
            other => other,
        }
    }
}

/// A request being handled.
pub type ReplyFuture = Pin<Box<dyn Future<Output = Reply>>>;

/// The requests of a connection that aren't answered yet.
///
/// Produces run side by side, since each has its place in its logs already and may stand in other connections' way until it is polled:
/// also while the peer takes no answers, and when it has gone. Any other request begins when all before it are answered.
#[derive(Default)]
pub struct Replies {
    waiting: RefCell<VecDeque<Entry>>,
    /// Requests queued or running.
    count: Cell<usize>,
    /// Those of them that are no Produce.
    others: Cell<usize>,
    /// Bytes of answers that aren't sent.
    unsent_bytes: Cell<usize>,
    moved: Notify,
    sender: RefCell<Option<Waker>>,
    end: Cell<End>,
}

/// What the sender still has to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum End {
    /// There may be more requests.
    #[default]
    None,
    /// There will be none: those under way are answered.
    Last,
    /// Nobody is there to answer: only Produces are finished.
    Gone,
}

/// A request whose turn hasn't come.
pub(super) struct Entry {
    pub(super) reply: ReplyFuture,
    pub(super) memory: FrameMemory,
    pub(super) clock: RequestClock,
    pub(super) is_produce: bool,
}

impl Replies {
    /// Waits for room for a request; a Produce also until nothing but Produces is under way, and the peer takes its answers.
    pub async fn room(&self, is_produce: bool) {
        loop {
            let moved = self.moved.notified();
            let blocked = is_produce && (self.others.get() > 0 || self.unsent_bytes.get() > UNSENT_BYTES_MAX);
            if self.count.get() < REQUESTS_MAX && !blocked {
                return;
            }
            moved.await;
        }
    }

    /// Queues a request; [`Self::room`] was waited for.
    pub fn push(&self, reply: ReplyFuture, memory: FrameMemory, clock: RequestClock, is_produce: bool) {
        self.count.set(self.count.get() + 1);
        self.others.set(self.others.get() + usize::from(!is_produce));
        self.waiting.borrow_mut().push_back(Entry { reply, memory, clock, is_produce });
        self.wake_sender();
    }

    /// Whether no request is under way.
    pub fn is_empty(&self) -> bool {
        self.count.get() == 0
    }

    /// There will be no more requests: the sender ends when those under way are answered and their answers sent.
    pub fn last(&self) {
        self.set_end(End::Last);
    }

    /// There will be no more requests, and nobody to answer: only Produces are finished, all others dropped.
    pub fn gone(&self) {
        self.set_end(End::Gone);
    }

    fn set_end(&self, end: End) {
        self.end.set(end);
        self.wake_sender();
    }

    fn wake_sender(&self) {
        let waker = self.sender.borrow_mut().take();
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    pub(super) fn end(&self) -> End {
        self.end.get()
    }

    pub(super) fn set_sender(&self, waker: &Waker) {
        *self.sender.borrow_mut() = Some(waker.clone());
    }

    /// The next request, if `turn` says that it may begin.
    pub(super) fn next_if(&self, turn: impl FnOnce(&Entry) -> bool) -> Option<Entry> {
        let mut waiting = self.waiting.borrow_mut();
        if waiting.front().is_some_and(turn) { waiting.pop_front() } else { None }
    }

    pub(super) fn answered(&self, is_produce: bool) {
        self.count.set(self.count.get() - 1);
        self.others.set(self.others.get() - usize::from(!is_produce));
        self.moved.notify_waiters();
    }

    /// Drops all but Produces; the one that runs is the caller's to drop.
    pub(super) fn drop_others(&self) {
        if self.others.get() == 0 {
            return;
        }
        let (kept, dropped): (VecDeque<_>, VecDeque<_>) =
            self.waiting.take().into_iter().partition(|entry| entry.is_produce);
        self.waiting.replace(kept);
        self.count.set(self.count.get() - self.others.take());
        // Outside of the borrow: what a request holds may do anything when it goes.
        drop(dropped);
    }

    pub(super) fn set_unsent(&self, bytes: usize) {
        if self.unsent_bytes.replace(bytes) > bytes {
            self.moved.notify_waiters();
        }
    }
}

impl std::fmt::Debug for Replies {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Replies")
            .field("count", &self.count)
            .field("others", &self.others)
            .field("unsent_bytes", &self.unsent_bytes)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
