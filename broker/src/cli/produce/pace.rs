//! Sending no faster than asked for.

#![expect(
    clippy::disallowed_types,
    clippy::disallowed_methods,
    reason = "runs on the command line's own thread, never on a shard"
)]

use std::time::{Duration, Instant};

/// A rate, from the first record on.
#[derive(Debug)]
pub(super) struct Pace {
    per_second: f64,
    begun: Option<Instant>,
    passed: u64,
}

/// Who is ahead by less isn't held up: batches hold at least what is due in this time.
const SLACK: Duration = Duration::from_millis(5);

impl Pace {
    pub(super) fn new(per_second: f64) -> Self {
        Self { per_second, begun: None, passed: 0 }
    }

    /// Counts a record, and says how long it is too early.
    pub(super) fn next(&mut self) -> Option<Duration> {
        let now = Instant::now();
        let begun = *self.begun.get_or_insert(now);
        let early = self.due_after().checked_sub(now.duration_since(begun));
        self.passed += 1;
        early.filter(|early| *early > SLACK)
    }

    /// When the next record is due, from the first one on.
    fn due_after(&self) -> Duration {
        Duration::try_from_secs_f64(self.passed as f64 / self.per_second).unwrap_or(Duration::MAX)
    }
}
