//! [`TimeHistogram`]: how long things took, in fixed buckets.

use std::cell::Cell;
use std::time::Duration;

/// Upper ends of the buckets, both included, in nanoseconds; what took longer is in one more. From a group commit on a fast device to the
/// longest wait that a client asks for, three to a decade.
pub const TIME_BOUNDS_NS: [u64; 18] = [
    50_000,
    100_000,
    250_000,
    500_000,
    1_000_000,
    2_500_000,
    5_000_000,
    10_000_000,
    25_000_000,
    50_000_000,
    100_000_000,
    250_000_000,
    500_000_000,
    1_000_000_000,
    2_500_000_000,
    5_000_000_000,
    10_000_000_000,
    30_000_000_000,
];

const BUCKETS: usize = TIME_BOUNDS_NS.len() + 1;

/// Counts of one shard, in its own cells: recording is five comparisons and two additions, without a lock, an atomic or an allocation.
#[derive(Debug, Default)]
pub struct TimeHistogram {
    buckets: [Cell<u64>; BUCKETS],
    sum_ns: Cell<u64>,
}

/// What a [`TimeHistogram`] holds at one moment: plain data, to be sent elsewhere.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TimeCounts {
    /// Events of each bucket of [`TIME_BOUNDS_NS`], not cumulated; the last took longer than all bounds.
    pub buckets: [u64; BUCKETS],
    /// All of them together, in nanoseconds.
    pub sum_ns: u64,
}

impl TimeHistogram {
    /// Counts one event.
    pub fn record(&self, took: Duration) {
        let ns = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
        let bucket = &self.buckets[TIME_BOUNDS_NS.partition_point(|bound| *bound < ns)];
        bucket.set(bucket.get() + 1);
        self.sum_ns.set(self.sum_ns.get().saturating_add(ns));
    }

    /// Everything counted so far.
    pub fn counts(&self) -> TimeCounts {
        TimeCounts {
            buckets: std::array::from_fn(|bucket| self.buckets[bucket].get()),
            sum_ns: self.sum_ns.get(),
        }
    }
}

impl TimeCounts {
    /// Number of events.
    pub fn total(&self) -> u64 {
        self.buckets.iter().sum()
    }

    /// Counts what another one counted too.
    pub fn add(&mut self, other: &TimeCounts) {
        for (count, more) in self.buckets.iter_mut().zip(other.buckets) {
            *count += more;
        }
        self.sum_ns = self.sum_ns.saturating_add(other.sum_ns);
    }
}

#[cfg(test)]
mod tests;
