//! The real clocks.

use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use rustix::time::{ClockId, clock_gettime};

use super::current::{self, Shard};
use super::timers::Key;

/// CLOCK_MONOTONIC, in nanoseconds.
pub(crate) fn now_ns() -> u64 {
    let time = clock_gettime(ClockId::Monotonic);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// CLOCK_REALTIME, in milliseconds since 1970.
pub(crate) fn unix_ms() -> i64 {
    let time = clock_gettime(ClockId::Realtime);
    time.tv_sec * 1_000 + time.tv_nsec / 1_000_000
}

/// Waits on the shard's timers.
pub(crate) fn sleep_until(deadline_ns: u64) -> SleepUntil {
    SleepUntil { shard: current::expect("rt::sleep"), deadline_ns, key: None }
}

/// See [`sleep_until`].
pub(crate) struct SleepUntil {
    shard: Rc<Shard>,
    deadline_ns: u64,
    key: Option<Key>,
}

impl Future for SleepUntil {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if now_ns() >= self.deadline_ns {
            return Poll::Ready(());
        }
        let key = self.shard.timers.set(self.key, self.deadline_ns, cx.waker());
        self.key = Some(key);
        Poll::Pending
    }
}

impl Drop for SleepUntil {
    fn drop(&mut self) {
        if let Some(key) = self.key {
            self.shard.timers.remove(key);
        }
    }
}
