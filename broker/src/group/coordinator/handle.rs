//! The handle of a coordinator: where peers ask and wait.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use protocol::error::ErrorCode;

use super::runtime::{Answer, Asked, LogLost};
use super::{Clock, CoordinatorLog, Decider, Runtime, WaiterId};
use crate::group::limits::{TOLD_MAX, WAITERS_MAX};

/// Where a coordinator is in its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// Its log is being read: requests get COORDINATOR_LOAD_IN_PROGRESS.
    Loading,
    /// Its log couldn't be read: requests get NOT_COORDINATOR until it is run again.
    Failed,
    /// It serves.
    Active,
    /// Its leadership or log is lost, for good: requests get NOT_COORDINATOR. Should the leadership come back, a new coordinator is made.
    Lost,
}

/// A coordinator over the log `L`, on the shard that owns the partition. Cloning shares it.
///
/// [`Coordinator::run`] must be driven by one task; it loads the state, fires timers and lets answers go as the high watermark
/// moves. When it returns, the coordinator is lost, or couldn't be loaded.
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
    /// What it was told while it loaded.
    told: Vec<D::Request>,
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
            told: Vec::new(),
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

    /// Decides on a request, at once or as soon as the log has room for what it writes; the future that comes of it gives the answer
    /// once it may leave. Dropping that one only stops the waiting.
    pub async fn ask(&self, request: &D::Request) -> ReplyFuture<D, L, C> {
        let mut room = None;
        loop {
            let bytes = match self.try_ask(request, room.take()) {
                Ok(reply) => return reply,
                Err(NoRoom { bytes }) => bytes,
            };
            match self.inner.log.room(bytes).await {
                // Used without an await between, so that nobody else takes it.
                Ok(made) => room = Some(made),
                Err(error) => return ReplyFuture { waiting: Waiting::Refused(error.coordinator_code()) },
            }
        }
    }

    fn try_ask(&self, request: &D::Request, room: Option<L::Room>) -> Result<ReplyFuture<D, L, C>, NoRoom> {
        let mut state = self.inner.state.borrow_mut();
        if let Some(code) = state.refusal() {
            return Ok(ReplyFuture { waiting: Waiting::Refused(code) });
        }
        let waiter = state.new_slot();
        let now = self.inner.clock.now();
        let stepped = match state.runtime.as_mut() {
            Some(runtime) => runtime.request(now, request, waiter, &self.inner.log, room),
            None => Err(LogLost),
        };
        let wakers = match stepped {
            Ok(Asked::Decided) => state.settle(self.inner.log.committed_offset()),
            Ok(Asked::NoRoom { bytes }) => {
                state.slots.remove(&waiter);
                return Err(NoRoom { bytes });
            }
            Err(LogLost) => state.lose(),
        };
        drop(state);
        wakers.wake();
        Ok(ReplyFuture { waiting: Waiting::Slot(Rc::clone(&self.inner), waiter) })
    }

    /// Asks for something whose answer nobody waits for, and whose decision writes nothing itself. While the log is being read it is kept until
    /// that is done.
    pub fn tell(&self, request: D::Request) {
        {
            let mut state = self.inner.state.borrow_mut();
            if matches!(state.phase, Phase::Loading | Phase::Failed) {
                if state.told.len() < TOLD_MAX {
                    state.told.push(request);
                } else {
                    tracing::warn!("a coordinator was told too much while it loaded: something is left out");
                }
                return;
            }
        }
        // Dropping the reply only says that nobody waits.
        if let Err(NoRoom { bytes }) = self.try_ask(&request, None) {
            tracing::error!(bytes, "a coordinator was told something that writes");
        }
    }

    /// Once it is loaded: asks what it was told before.
    pub(super) fn ask_told(&self) {
        let told = std::mem::take(&mut self.inner.state.borrow_mut().told);
        told.into_iter().for_each(|request| self.tell(request));
    }

    /// Ends it: the leadership is gone. Who waits gets NOT_COORDINATOR. `run` returns.
    pub fn resign(&self) {
        self.inner.lose();
    }
}

/// The log has no room yet for a batch of so many bytes.
struct NoRoom {
    bytes: usize,
}

impl<D: Decider, L, C> Inner<D, L, C> {
    /// The end: see [`State::lose`].
    pub(super) fn lose(&self) {
        let wakers = self.state.borrow_mut().lose();
        wakers.wake();
    }
}

/// Whom a step wakes, after the state isn't borrowed any more: a waker may run anything.
#[must_use = "whoever waits sleeps on"]
pub(super) struct Wakers(Vec<Waker>);

impl Wakers {
    /// Wakes them.
    pub(super) fn wake(self) {
        self.0.into_iter().for_each(Waker::wake);
    }
}

impl<D: Decider> State<D> {
    /// Why nothing can be asked now.
    fn refusal(&self) -> Option<ErrorCode> {
        match self.phase {
            Phase::Active if self.slots.len() < WAITERS_MAX => None,
            Phase::Active => Some(ErrorCode::COORDINATOR_NOT_AVAILABLE),
            Phase::Loading => Some(ErrorCode::COORDINATOR_LOAD_IN_PROGRESS),
            Phase::Failed | Phase::Lost => Some(ErrorCode::NOT_COORDINATOR),
        }
    }

    fn new_slot(&mut self) -> WaiterId {
        let waiter = WaiterId(self.next_waiter);
        self.next_waiter += 1;
        self.slots.insert(waiter, Slot { answer: None, waker: None });
        waiter
    }

    /// After a step: lets answers go, and tells the driver of an earlier deadline.
    pub(super) fn settle(&mut self, committed_offset: i64) -> Wakers {
        let mut wakers = Vec::new();
        let Some(runtime) = self.runtime.as_mut() else { return Wakers(wakers) };
        while let Some((waiter, answer)) = runtime.pop_answer(committed_offset) {
            // A waiter without a slot has gone away.
            if let Some(slot) = self.slots.get_mut(&waiter) {
                wakers.extend(slot.put(answer));
            }
        }
        let next_ms = runtime.next_deadline_ms();
        let earlier = match (next_ms, self.driver_deadline_ms) {
            (Some(next_ms), Some(sleeps_ms)) => next_ms < sleeps_ms,
            (Some(_), None) => true,
            (None, _) => false,
        };
        if earlier {
            wakers.extend(self.driver.take());
        }
        Wakers(wakers)
    }

    /// The end: drops the state and answers everyone.
    pub(super) fn lose(&mut self) -> Wakers {
        self.phase = Phase::Lost;
        self.runtime = None;
        let unanswered = self.slots.values_mut().filter(|slot| slot.answer.is_none());
        let waiters = unanswered.filter_map(|slot| slot.put(Err(ErrorCode::NOT_COORDINATOR)));
        Wakers(waiters.chain(self.driver.take()).collect())
    }
}

impl<D: Decider> Slot<D> {
    /// Gives the waker of the one who waits, to be woken once the state isn't borrowed any more.
    #[must_use]
    fn put(&mut self, answer: Answer<D>) -> Option<Waker> {
        self.answer = Some(answer);
        self.waker.take()
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
        let Some(answer) = slot.answer.take() else {
            let older = slot.waker.replace(cx.waker().clone());
            drop(state);
            drop(older);
            return Poll::Pending;
        };
        state.slots.remove(waiter);
        Poll::Ready(answer)
    }
}

impl<D: Decider, L, C> Drop for ReplyFuture<D, L, C> {
    fn drop(&mut self) {
        if let Waiting::Slot(inner, waiter) = &self.waiting {
            let slot = inner.state.borrow_mut().slots.remove(waiter);
            // Its waker may run anything when it goes.
            drop(slot);
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
            .field("told", &state.told.len())
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
