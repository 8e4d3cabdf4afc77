//! What a coordinator decides with: the trait of its pure machine and the values that go in and out of it.

use std::fmt::Debug;

use bytes::Bytes;

use super::Now;
use crate::group::record::Record;

/// Names the peer that waits for an answer; given out by the runtime, never used twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WaiterId(pub u64);

/// The pure machine of a coordinator.
///
/// Its state has two parts. The *logged* part is a fold over the partition's records: [`Decider::replay`] alone changes it, on a
/// leader right after the append, and on load. The *volatile* part (who waits, which timers run) never reaches the log and is
/// lost with the leadership: [`Decider::apply`] alone changes it. [`Decider::decide`] and [`Decider::expire`] change nothing, so
/// that a refused append leaves nothing to take back.
///
/// One step is: decide, append, replay, apply, without an await between. What a step starts in turn (a member left, so the
/// rebalance may be over) is a timer armed for now, which the runtime runs at once, as a step of its own.
pub trait Decider: Debug {
    /// What a peer, or the broker itself, asks for.
    type Request;
    /// The answer to it.
    type Reply: Debug;
    /// A change of the volatile part.
    type Change: Debug;
    /// Names a timer; arming it again moves it.
    type Timer: Ord + Clone + Debug;

    /// Decides on a request. `waiter` is who will be answered: a decision without a reply must park it through a change. The same request may be
    /// decided on again later, with another waiter, if the log had no room for the records.
    fn decide(&self, now: Now, request: &Self::Request, waiter: WaiterId) -> Decision<Self>;

    /// Decides on a timer that is due. A timer that no longer means anything gives an empty decision.
    fn expire(&self, now: Now, timer: &Self::Timer) -> Decision<Self>;

    /// Folds a record of the log into the state. Records that aren't understood are skipped and counted by the caller.
    ///
    /// # Errors
    /// The record is damaged, or of a newer format.
    fn replay(&mut self, entry: &Entry) -> Result<(), ReplayError>;

    /// Changes the volatile part. Never fails: a change that no longer fits does nothing.
    fn apply(&mut self, now: Now, change: Self::Change, out: &mut Outbox<Self>);

    /// The log was read to its end: arms the timers that follow from it.
    fn loaded(&mut self, now: Now, out: &mut Outbox<Self>);
}

/// A record of the coordinator's partition, as it is replayed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Where it is.
    pub offset: i64,
    /// Its timestamp, ms since 1970.
    pub timestamp_ms: i64,
    /// The producer of a transactional batch; -1 otherwise.
    pub producer_id: i64,
    /// Its epoch; -1 without a producer.
    pub producer_epoch: i16,
    /// What it says.
    pub content: EntryContent,
}

/// What an entry says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EntryContent {
    /// A key and its new value; no value means deleted.
    Record {
        /// The coordinator key.
        key: Bytes,
        /// The value behind its version.
        value: Option<Bytes>,
    },
    /// The end of a producer's transaction.
    Marker {
        /// Whether it was committed.
        commit: bool,
    },
}

/// What was decided.
#[derive(Debug)]
pub struct Decision<D: Decider + ?Sized> {
    /// Appended as one batch: all or nothing.
    pub records: Vec<Record>,
    /// Producer id and epoch of a transactional batch.
    pub producer: Option<(i64, i16)>,
    /// Applied in order once the records are replayed.
    pub changes: Vec<D::Change>,
    /// The answer; `None` if the waiter was parked by a change (or there is none).
    pub reply: Option<D::Reply>,
    /// Applied instead of `changes` when the append is refused.
    pub otherwise: Vec<D::Change>,
}

impl<D: Decider + ?Sized> Decision<D> {
    /// Nothing to do.
    pub fn nothing() -> Self {
        Self { records: Vec::new(), producer: None, changes: Vec::new(), reply: None, otherwise: Vec::new() }
    }

    /// Only an answer.
    pub fn reply(reply: D::Reply) -> Self {
        Self { reply: Some(reply), ..Self::nothing() }
    }

    /// Only a change.
    pub fn change(change: D::Change) -> Self {
        Self { changes: vec![change], ..Self::nothing() }
    }

    /// Only records.
    pub fn records(records: Vec<Record>) -> Self {
        Self { records, ..Self::nothing() }
    }
}

/// What applying a change set off: carried out by the runtime.
#[derive(Debug)]
pub struct Outbox<D: Decider + ?Sized> {
    /// Answers to waiters parked earlier.
    pub replies: Vec<(WaiterId, D::Reply)>,
    /// Timers to arm (deadline in the monotonic ms of [`Now`]) or to stop.
    pub timers: Vec<(D::Timer, Option<i64>)>,
}

impl<D: Decider + ?Sized> Outbox<D> {
    /// An empty one.
    pub fn new() -> Self {
        Self { replies: Vec::new(), timers: Vec::new() }
    }

    /// Answers a parked waiter.
    pub fn reply(&mut self, waiter: WaiterId, reply: D::Reply) {
        self.replies.push((waiter, reply));
    }

    /// Arms a timer, or moves it.
    pub fn arm(&mut self, timer: D::Timer, deadline_ms: i64) {
        self.timers.push((timer, Some(deadline_ms)));
    }

    /// Stops a timer.
    pub fn stop(&mut self, timer: D::Timer) {
        self.timers.push((timer, None));
    }
}

impl<D: Decider + ?Sized> Default for Outbox<D> {
    fn default() -> Self {
        Self::new()
    }
}

/// Why a record of the coordinator's log could not be folded in.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    /// The key or the value is no such message.
    #[error("coordinator record at offset {offset}: {source}")]
    Damaged {
        /// Where.
        offset: i64,
        /// What is wrong with it.
        source: protocol::wire::DecodeError,
    },
}
