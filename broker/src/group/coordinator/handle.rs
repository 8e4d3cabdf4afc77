//! The handle of a coordinator: where peers ask and wait.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use protocol::error::ErrorCode;

use super::runtime::{Answer, LogLost};
use super::{Clock, CoordinatorLog, Decider, Runtime, WaiterId};
use crate::group::limits::WAITERS_MAX;

/// Where a coordinator is in its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// Its log is being read: requests get COORDINATOR_LOAD_IN_PROGRESS.
    Loading,
    /// It serves.
    Active,
    /// Its leadership or log is lost, for good: requests get NOT_COORDINATOR. Should the leadership come back, a new coordinator is made.
    Lost,
}

/// A coordinator over the log `L`, on the shard that owns the partition. Cloning shares it.
///
/// [`Coordinator::run`] must be driven by one task; it loads the state, fires timers and lets answers go as the high watermark
/// moves. When it returns, the coordinator is lost.
pub struct Coordinator<D: Decider, L, C> {
    pub(super) inner: Rc<Inner<D, L, C>>,
}

pub(super) struct Inner<D: Decider, L, C> {
    pub(super) log: L,
    pub(super) clock: C,
    pub(super) state: RefCell<State<D>>,
}

/// Borrowed only within a step, never across an await.
pub(super) struct State<D: Decider> {
    pub(super) phase: Phase,
    pub(super) runtime: Option<Runtime<D>>,
    slots: BTreeMap<WaiterId, Slot<D>>,
    next_waiter: u64,
    /// The driver, when there is something new for it: an earlier deadline, or the end.
    pub(super) driver: Option<Waker>,
    /// The deadline the driver sleeps for.
    pub(super) driver_deadline_ms: Option<i64>,
}

struct Slot<D: Decider> {
    answer: Option<Answer<D>>,
    waker: Option<Waker>,
}

impl<D: Decider, L: CoordinatorLog, C: Clock> Coordinator<D, L, C> {
    /// A coordinator that has yet to be loaded by [`Coordinator::run`].
    pub fn new(log: L, clock: C) -> Self {
        let state = State {
            phase: Phase::Loading,
            runtime: None,
            slots: BTreeMap::new(),
            next_waiter: 0,
            driver: None,
            driver_deadline_ms: None,
        };
        Self { inner: Rc::new(Inner { log, clock, state: RefCell::new(state) }) }
    }

    /// Where it is in its life.
    pub fn phase(&self) -> Phase {
        self.inner.state.borrow().phase
    }

    /// Looks at the state as of the last step, committed or not: for metrics. What is answered to peers goes through requests.
    pub fn inspect<T>(&self, look: impl FnOnce(&D) -> T) -> Option<T> {
        self.inner.state.borrow().runtime.as_ref().map(|runtime| look(runtime.decider()))
    }

    /// Decides on a request now; the future gives the answer once it may leave. Dropping the future only stops the waiting.
    pub fn request(&self, request: D::Request) -> ReplyFuture<D, L, C> {
        let mut state = self.inner.state.borrow_mut();
        let code = match (state.phase, state.slots.len() < WAITERS_MAX) {
            (Phase::Active, true) => ErrorCode::NONE,
            (Phase::Active, false) => ErrorCode::COORDINATOR_NOT_AVAILABLE,
            (Phase::Loading, _) => ErrorCode::COORDINATOR_LOAD_IN_PROGRESS,
            (Phase::Lost, _) => ErrorCode::NOT_COORDINATOR,
        };
        if code.is_error() {
            return ReplyFuture { waiting: Waiting::Refused(code) };
        }
        let waiter = state.new_slot();
        let now = self.inner.clock.now();
        let stepped = match state.runtime.as_mut() {
            Some(runtime) => runtime.request(now, request, waiter, &self.inner.log),
            None => Err(LogLost),
        };
        match stepped {
            Ok(()) => state.settle(self.inner.log.committed_offset()),
            Err(LogLost) => state.lose(),
        }
        ReplyFuture { waiting: Waiting::Slot(Rc::clone(&self.inner), waiter) }
    }

    /// Ends it: the leadership is gone. Who waits gets NOT_COORDINATOR. `run` returns.
    pub fn resign(&self) {
        self.inner.state.borrow_mut().lose();
    }
}

impl<D: Decider> State<D> {
    fn new_slot(&mut self) -> WaiterId {
        let waiter = WaiterId(self.next_waiter);
        self.next_waiter += 1;
        self.slots.insert(waiter, Slot { answer: None, waker: None });
        waiter
    }

    /// After a step: lets answers go, and tells the driver of an earlier deadline.
    pub(super) fn settle(&mut self, committed_offset: i64) {
        let Some(runtime) = self.runtime.as_mut() else { return };
        while let Some((waiter, answer)) = runtime.pop_answer(committed_offset) {
            // A waiter without a slot has gone away.
            if let Some(slot) = self.slots.get_mut(&waiter) {
                slot.put(answer);
            }
        }
        let next_ms = runtime.next_deadline_ms();
        let earlier = match (next_ms, self.driver_deadline_ms) {
            (Some(next_ms), Some(sleeps_ms)) => next_ms < sleeps_ms,
            (Some(_), None) => true,
            (None, _) => false,
        };
        if earlier {
            self.wake_driver();
        }
    }

    /// The end: drops the state and answers everyone.
    pub(super) fn lose(&mut self) {
        self.phase = Phase::Lost;
        self.runtime = None;
        for slot in self.slots.values_mut().filter(|slot| slot.answer.is_none()) {
            slot.put(Err(ErrorCode::NOT_COORDINATOR));
        }
        self.wake_driver();
    }

    fn wake_driver(&mut self) {
        if let Some(waker) = self.driver.take() {
            waker.wake();
        }
    }
}

impl<D: Decider> Slot<D> {
    fn put(&mut self, answer: Answer<D>) {
        self.answer = Some(answer);
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
    }
}

/// Waits for an answer.
pub struct ReplyFuture<D: Decider, L, C> {
    waiting: Waiting<D, L, C>,
}

enum Waiting<D: Decider, L, C> {
    Refused(ErrorCode),
    Slot(Rc<Inner<D, L, C>>, WaiterId),
}

impl<D: Decider, L, C> Future for ReplyFuture<D, L, C> {
    /// The reply, or the code that stands for it: COORDINATOR_LOAD_IN_PROGRESS, NOT_COORDINATOR, COORDINATOR_NOT_AVAILABLE, or what the log refused with.
    type Output = Answer<D>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let (inner, waiter) = match &self.waiting {
            Waiting::Refused(code) => return Poll::Ready(Err(*code)),
            Waiting::Slot(inner, waiter) => (inner, waiter),
        };
        let mut state = inner.state.borrow_mut();
        let Some(slot) = state.slots.get_mut(waiter) else {
            return Poll::Ready(Err(ErrorCode::NOT_COORDINATOR));
        };
        match slot.answer.take() {
            Some(answer) => {
                state.slots.remove(waiter);
                Poll::Ready(answer)
            }
            None => {
                slot.waker = Some(cx.waker().clone());
                Poll::Pending
            }
        }
    }
}

impl<D: Decider, L, C> Drop for ReplyFuture<D, L, C> {
    fn drop(&mut self) {
        if let Waiting::Slot(inner, waiter) = &self.waiting {
            inner.state.borrow_mut().slots.remove(waiter);
        }
    }
}

impl<D: Decider, L, C> Clone for Coordinator<D, L, C> {
    fn clone(&self) -> Self {
        Self { inner: Rc::clone(&self.inner) }
    }
}

impl<D: Decider, L, C> fmt::Debug for Coordinator<D, L, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.inner.state.borrow();
        f.debug_struct("Coordinator")
            .field("phase", &state.phase)
            .field("waiters", &state.slots.len())
            .finish_non_exhaustive()
    }
}

impl<D: Decider, L, C> fmt::Debug for ReplyFuture<D, L, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let waiter = match &self.waiting {
            Waiting::Refused(_) => None,
            Waiting::Slot(_, waiter) => Some(waiter),
        };
        f.debug_struct("ReplyFuture").field("waiter", &waiter).finish()
    }
}
