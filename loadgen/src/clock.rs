//! The thread's clocks.
#![expect(
    clippy::disallowed_types,
    clippy::disallowed_methods,
    reason = "the load generator blocks on a plain thread of its own process, outside rt and its simulation"
)]

use std::time::{Duration, Instant, SystemTime};

/// Time since a start, never going back.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stopwatch(Instant);

impl Stopwatch {
    pub(crate) fn start() -> Self {
        Self(Instant::now())
    }

    pub(crate) fn elapsed(self) -> Duration {
        self.0.elapsed()
    }
}

/// In ms since 1970.
pub(crate) fn unix_ms() -> i64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

/// Blocks the thread, for a retry.
pub(crate) fn pause(time: Duration) {
    std::thread::sleep(time);
}
