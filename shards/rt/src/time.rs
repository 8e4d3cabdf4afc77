//! The shard's clocks and timers.

use std::future::Future;
use std::ops::{Add, Sub};
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

/// A moment of the monotonic clock, in nanoseconds since some moment before the process began.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant(u64);

impl Instant {
    /// Nanoseconds since the clock's own zero: for differences and traces only.
    pub fn as_nanos(self) -> u64 {
        self.0
    }

    /// How long ago `earlier` was; zero if it lies ahead.
    pub fn saturating_since(self, earlier: Instant) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(earlier.0))
    }
}

impl Add<Duration> for Instant {
    type Output = Instant;

    /// Saturates: five centuries ahead is never.
    fn add(self, duration: Duration) -> Instant {
        Instant(self.0.saturating_add(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)))
    }
}

impl Sub<Duration> for Instant {
    type Output = Instant;

    fn sub(self, duration: Duration) -> Instant {
        Instant(self.0.saturating_sub(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)))
    }
}

impl Sub for Instant {
    type Output = Duration;

    /// Zero if `earlier` lies ahead.
    fn sub(self, earlier: Instant) -> Duration {
        self.saturating_since(earlier)
    }
}

/// The monotonic clock. Real time is told on any thread.
pub fn now() -> Instant {
    #[cfg(feature = "sim")]
    if crate::sim::facade::is_simulated() {
        return Instant(crate::sim::facade::now_ns());
    }
    Instant(crate::real::time::now_ns())
}

/// The wall clock, in milliseconds since 1970. It may jump. Real time is told on any thread.
pub fn unix_ms() -> i64 {
    #[cfg(feature = "sim")]
    if crate::sim::facade::is_simulated() {
        return crate::sim::facade::unix_ms();
    }
    crate::real::time::unix_ms()
}

/// Waits until the clock has reached `deadline`.
pub async fn sleep_until(deadline: Instant) {
    #[cfg(feature = "sim")]
    if crate::sim::facade::is_simulated() {
        return crate::sim::timer::sleep_until(deadline.0).await;
    }
    crate::real::time::sleep_until(deadline.0).await;
}

/// Waits for `duration`.
pub async fn sleep(duration: Duration) {
    sleep_until(now() + duration).await;
}

/// The time was up first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("timed out")]
pub struct Elapsed;

/// Runs `future` for at most `duration`, then drops it. What it had in flight goes on, as when any future is
/// dropped.
///
/// # Errors
/// [`Elapsed`]; a future that is ready at its deadline wins.
pub async fn timeout<F: Future>(duration: Duration, future: F) -> Result<F::Output, Elapsed> {
    let (mut future, mut sleep) = (pin!(future), pin!(sleep(duration)));
    std::future::poll_fn(|cx| match future.as_mut().poll(cx) {
        Poll::Ready(output) => Poll::Ready(Ok(output)),
        Poll::Pending => sleep.as_mut().poll(cx).map(|()| Err(Elapsed)),
    })
    .await
}
