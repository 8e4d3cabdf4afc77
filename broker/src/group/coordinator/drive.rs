//! The one task behind a coordinator: load, timers, the high watermark.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::task::Poll;

use super::handle::{Inner, Phase};
use super::load::load;
use super::runtime::LogLost;
use super::{CommitWait, Coordinator, CoordinatorLog, Decider, LogError, Now, Runtime};

/// Time for a coordinator.
pub trait Clock {
    /// The time.
    fn now(&self) -> Now;

    /// Waits until the monotonic clock is at `mono_ms`.
    fn sleep_until(&self, mono_ms: i64) -> Pin<Box<dyn Future<Output = ()>>>;

    /// Lets other tasks of the shard run, if this one has had its share.
    fn yield_point(&self) -> Pin<Box<dyn Future<Output = ()>>>;
}

/// Why the driver looks again.
enum Wake {
    Look,
    Lost,
}

impl<D: Decider, L: CoordinatorLog, C: Clock> Coordinator<D, L, C> {
    /// Loads `decider` from the log, then drives it until the leadership is lost. To be run by one task. `turn` is dropped once it is loaded,
    /// for whoever counts loads.
    ///
    /// # Errors
    /// The log could not be read: it may be run again.
    pub async fn run<T>(&self, mut decider: D, turn: T) -> Result<(), LogError> {
        let inner = &*self.inner;
        let is_over = || inner.state.borrow().phase == Phase::Lost;
        if is_over() {
            return Ok(());
        }
        inner.state.borrow_mut().phase = Phase::Loading;
        let loaded = load(&mut decider, &inner.log, &inner.clock, is_over).await;
        drop(turn);
        match loaded {
            _ if is_over() => return Ok(()),
            Ok(end_offset) => {
                let mut state = inner.state.borrow_mut();
                state.runtime = Some(Runtime::new(decider, end_offset, inner.clock.now()));
                state.phase = Phase::Active;
            }
            Err(LogError::Lost) => {
                inner.lose();
                return Ok(());
            }
            Err(error) => {
                inner.state.borrow_mut().phase = Phase::Failed;
                return Err(error);
            }
        }
        self.ask_told();
        while inner.turn() {
            if let Wake::Lost = inner.wait().await {
                inner.lose();
            }
            // What a long turn left due is due at once: the shard's other tasks first.
            inner.clock.yield_point().await;
        }
        Ok(())
    }
}

impl<D: Decider, L: CoordinatorLog, C: Clock> Inner<D, L, C> {
    /// Fires what is due and lets answers go; false once lost.
    fn turn(&self) -> bool {
        let now = self.clock.now();
        let mut state = self.state.borrow_mut();
        let stepped = match state.runtime.as_mut() {
            Some(runtime) => runtime.run_due(now, &self.log),
            None => Err(LogLost),
        };
        let wakers = match stepped {
            Ok(()) => state.settle(self.log.committed_offset()),
            Err(LogLost) => state.lose(),
        };
        let goes_on = state.phase != Phase::Lost;
        drop(state);
        wakers.wake();
        goes_on
    }

    /// Waits for the next deadline, a move of the high watermark, or a nudge.
    async fn wait(&self) -> Wake {
        let deadline_ms = self.state.borrow().runtime.as_ref().and_then(|runtime| runtime.next_deadline_ms());
        self.state.borrow_mut().driver_deadline_ms = deadline_ms;
        let mut sleep = deadline_ms.map(|deadline_ms| self.clock.sleep_until(deadline_ms));
        // Waited for even with nothing held: this is also how the loss of the log is noticed.
        let mut commit = pin!(self.log.committed_past(self.log.committed_offset()));
        let mut nudged = false;
        poll_fn(|cx| {
            if std::mem::replace(&mut nudged, true) && self.state.borrow().driver.is_none() {
                return Poll::Ready(Wake::Look);
            }
            let older = self.state.borrow_mut().driver.replace(cx.waker().clone());
            drop(older);
            match commit.as_mut().poll(cx) {
                Poll::Ready(CommitWait::Passed) => return Poll::Ready(Wake::Look),
                Poll::Ready(CommitWait::Lost) => return Poll::Ready(Wake::Lost),
                Poll::Pending => {}
            }
            if sleep.as_mut().is_some_and(|sleep| sleep.as_mut().poll(cx).is_ready()) {
                return Poll::Ready(Wake::Look);
            }
            Poll::Pending
        })
        .await
    }
}
