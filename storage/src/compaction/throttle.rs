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
        Self { bytes_per_second: bytes_per_second.max(1.0), free_at: None }
    }

    /// From `now` on so many bytes a second, also for those that were counted and not waited for yet.
    pub(crate) fn set_rate(&mut self, bytes_per_second: f64, now: Instant) {
        let rate = bytes_per_second.max(1.0);
        let before = std::mem::replace(&mut self.bytes_per_second, rate);
        if let Some(left) =
            self.free_at.map(|free_at| free_at.saturating_since(now)).filter(|_| before != rate)
        {
            let left = Duration::try_from_secs_f64(left.as_secs_f64() * (before / rate));
            self.free_at = Some(now + left.unwrap_or(Duration::MAX));
        }
    }

    /// Counts `bytes` at `now`.
    pub(crate) fn count(&mut self, bytes: usize, now: Instant) {
        let seconds = bytes as f64 / self.bytes_per_second;
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
