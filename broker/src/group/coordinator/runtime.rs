//! One decider over one log, still without I/O: steps, timers, and replies held until what they say is committed.

use std::collections::VecDeque;

use bytes::Bytes;
use protocol::error::ErrorCode;
use protocol::records::BatchBuilder;

use super::{
    CoordinatorLog, Decider, Decision, Entry, EntryContent, LogError, Now, Outbox, Timers, WaiterId,
};
use crate::group::limits::TIMERS_PER_TURN_MAX;
use crate::group::record::Record;

/// When a timer whose decision the log refused is due again.
const REFUSED_TIMER_RETRY_MS: i32 = 1_000;
/// When a timer is due again whose records wait for space that is being made.
const ROOM_TIMER_RETRY_MS: i32 = 20;

/// A decider with its timers and held replies. A step never awaits; see [`Decider`] for its order.
///
/// ```text
/// log:     |--- committed ---|--- appended and replayed ---|
///                            ^ high watermark              ^ end_offset: what the state, and so every new reply, speaks of
/// replies:   left            | held, in order              |
/// ```
#[derive(Debug)]
pub struct Runtime<D: Decider> {
    decider: D,
    timers: Timers<D::Timer>,
    /// The offset after the last replayed record.
    end_offset: i64,
    /// Replies with the end offset their state was replayed to; offsets never fall.
    held: VecDeque<Held<D>>,
}

/// A reply, or the code that stands for one.
pub type Answer<D> = Result<<D as Decider>::Reply, ErrorCode>;

#[derive(Debug)]
struct Held<D: Decider> {
    end_offset: i64,
    waiter: WaiterId,
    answer: Answer<D>,
}

impl<D: Decider> Runtime<D> {
    /// Takes over a decider that was loaded up to `end_offset`, and arms its timers.
    pub fn new(mut decider: D, end_offset: i64, now: Now) -> Self {
        let mut out = Outbox::new();
        decider.loaded(now, &mut out);
        let mut runtime = Self { decider, timers: Timers::new(), end_offset, held: VecDeque::new() };
        runtime.carry_out(out);
        runtime
    }

    /// The state.
    pub fn decider(&self) -> &D {
        &self.decider
    }

    /// The offset after the last replayed record.
    pub fn end_offset(&self) -> i64 {
        self.end_offset
    }

    /// The timers.
    pub fn timers(&self) -> &Timers<D::Timer> {
        &self.timers
    }

    /// Decides on a request, and on everything it makes due at once; its records go into `room`, if there is some. The answer comes through
    /// [`Runtime::pop_answer`], maybe much later.
    ///
    /// # Errors
    /// The log is lost: drop this runtime.
    pub fn request<L: CoordinatorLog>(
        &mut self,
        now: Now,
        request: &D::Request,
        waiter: WaiterId,
        log: &L,
        room: Option<L::Room>,
    ) -> Result<Asked, LogLost> {
        let decision = self.decider.decide(now, request, waiter);
        match self.step(now, decision, Some(waiter), log, room)? {
            Step::Done => {}
            Step::Refused(code) => self.hold(waiter, Err(code)),
            Step::NoRoom { bytes } => return Ok(Asked::NoRoom { bytes }),
        }
        self.run_due(now, log)?;
        Ok(Asked::Decided)
    }

    /// Fires the timers that are due; bounded, so some may be left for the next turn.
    ///
    /// # Errors
    /// The log is lost: drop this runtime.
    pub fn run_due(&mut self, now: Now, log: &impl CoordinatorLog) -> Result<(), LogLost> {
        for _ in 0..TIMERS_PER_TURN_MAX {
            let Some(timer) = self.timers.pop_due(now.mono_ms) else { break };
            let decision = self.decider.expire(now, &timer);
            match self.step(now, decision, None, log, None)? {
                Step::Done => {}
                Step::Refused(code) => {
                    tracing::warn!(?timer, %code, "coordinator log refused a timer's records; trying again");
                    self.timers.arm(timer, now.after(REFUSED_TIMER_RETRY_MS));
                }
                Step::NoRoom { .. } => self.timers.arm(timer, now.after(ROOM_TIMER_RETRY_MS)),
            }
        }
        Ok(())
    }

    /// When [`Runtime::run_due`] is to be called next, in monotonic ms.
    pub fn next_deadline_ms(&self) -> Option<i64> {
        self.timers.next_ms()
    }

    /// The next answer that may leave, given the high watermark.
    pub fn pop_answer(&mut self, committed_offset: i64) -> Option<(WaiterId, Answer<D>)> {
        if self.held.front()?.end_offset > committed_offset {
            return None;
        }
        self.held.pop_front().map(|held| (held.waiter, held.answer))
    }

    fn step<L: CoordinatorLog>(
        &mut self,
        now: Now,
        decision: Decision<D>,
        waiter: Option<WaiterId>,
        log: &L,
        room: Option<L::Room>,
    ) -> Result<Step, LogLost> {
        let refused = match self.append(now, &decision, log, room) {
            Ok(()) => None,
            Err(LogError::Lost) => return Err(LogLost),
            // Nothing happened, and nothing was answered: it is decided anew on the state of then.
            Err(LogError::NoRoom { bytes }) => return Ok(Step::NoRoom { bytes }),
            Err(error @ LogError::Refused(_)) => Some(error.coordinator_code()),
        };
        let changes = if refused.is_none() { decision.changes } else { decision.otherwise };
        // The reply first: answers of one step to one waiter don't exist, and to several the order is free.
        if let (None, Some(waiter), Some(reply)) = (refused, waiter, decision.reply) {
            self.hold(waiter, Ok(reply));
        }
        let mut out = Outbox::new();
        for change in changes {
            self.decider.apply(now, change, &mut out);
        }
        self.carry_out(out);
        Ok(refused.map_or(Step::Done, Step::Refused))
    }

    fn append<L: CoordinatorLog>(
        &mut self,
        now: Now,
        decision: &Decision<D>,
        log: &L,
        room: Option<L::Room>,
    ) -> Result<(), LogError> {
        if decision.records.is_empty() {
            return Ok(());
        }
        let (producer_id, producer_epoch) = decision.producer.unwrap_or((-1, -1));
        let batch = build_batch(now, &decision.records, decision.producer)?;
        let end_offset = log.append(batch, now.unix_ms, room)?;
        let first_offset = end_offset - decision.records.len() as i64;
        for (offset, record) in (first_offset..).zip(&decision.records) {
            let entry = Entry {
                offset,
                timestamp_ms: now.unix_ms,
                producer_id,
                producer_epoch,
                content: EntryContent::Record { key: record.key.clone(), value: record.value.clone() },
            };
            if let Err(error) = self.decider.replay(&entry) {
                // A record of our own that can't be read back: loading it would fail just so, so the state stays equal to its log.
                tracing::error!(%error, "coordinator could not replay its own record");
            }
        }
        self.end_offset = end_offset;
        Ok(())
    }

    fn hold(&mut self, waiter: WaiterId, answer: Answer<D>) {
        self.held.push_back(Held { end_offset: self.end_offset, waiter, answer });
    }

    fn carry_out(&mut self, out: Outbox<D>) {
        for (waiter, reply) in out.replies {
            self.hold(waiter, Ok(reply));
        }
        for (timer, deadline_ms) in out.timers {
            match deadline_ms {
                Some(deadline_ms) => self.timers.arm(timer, deadline_ms),
                None => self.timers.stop(&timer),
            }
        }
    }
}

/// What became of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use = "without room nothing was decided"]
pub enum Asked {
    /// It is decided; its answer comes, or waits for something.
    Decided,
    /// Its records find no space in the log yet: ask again once there is room for a batch of so many bytes.
    NoRoom {
        /// The batch's length.
        bytes: usize,
    },
}

/// How a step ended.
enum Step {
    Done,
    Refused(ErrorCode),
    NoRoom { bytes: usize },
}

/// The log under a runtime is lost: the runtime's state is worth nothing any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LogLost;

fn build_batch(now: Now, records: &[Record], producer: Option<(i64, i16)>) -> Result<Bytes, LogError> {
    let mut builder = BatchBuilder::new();
    if let Some((id, epoch)) = producer {
        builder = builder.producer(id, epoch, -1).transactional(true);
    }
    for record in records {
        builder.push(now.unix_ms, Some(&record.key), record.value.as_deref(), &[]);
    }
    builder.build().map_err(|_| LogError::Refused(ErrorCode::RECORD_LIST_TOO_LARGE))
}
