//! So many bytes a second and no more (`log.cleaner.io.max.bytes.per.second`).

use std::time::Duration;

use rt::Instant;

/// Longest wait at once: who is told to end notices within it.
const WAIT_MAX: Duration = Duration::from_millis(100);

/// Counts bytes read and written, and tells how long to wait for the rate to hold.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Throttle {
    bytes_per_second: f64,
    /// Until then the rate is used up.
    free_at: Option<Instant>,
}

impl Throttle {
    /// At most so many bytes a second.
    pub(crate) fn new(bytes_per_second: f64) -> Self {
        Self { bytes_per_second, free_at: None }
    }

    /// Counts `bytes` at `now`.
    pub(crate) fn count(&mut self, bytes: usize, now: Instant) {
        let seconds = bytes as f64 / self.bytes_per_second.max(1.0);
        let takes = Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX);
        let from = self.free_at.map_or(now, |free_at| free_at.max(now));
        self.free_at = Some(from + takes);
    }

    /// How long to wait at `now` before more may be read or written, if at all; a part of it, if that is long.
    pub(crate) fn wait(&self, now: Instant) -> Option<Duration> {
        let left = self.free_at?.saturating_since(now);
        (left > Duration::ZERO).then_some(left.min(WAIT_MAX))
    }
}

#[cfg(test)]
mod tests;
