//! What the conductor tells all shards while they run.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Orders from the conductor's thread, read by every shard when it looks. No order depends on another, so they
/// are relaxed.
#[derive(Debug, Default)]
pub(crate) struct Control {
    start_ns: AtomicU64,
    stop: AtomicBool,
    abort: AtomicBool,
    /// Records a second of all producers, as the bits of a float.
    rate: AtomicU64,
    /// Counts the changes of the rate.
    rate_changes: AtomicU64,
}

impl Control {
    pub(crate) fn new(rate_per_s: f64) -> Self {
        Self { rate: AtomicU64::new(rate_per_s.to_bits()), ..Self::default() }
    }

    /// Lets the load begin at this moment.
    pub(crate) fn start_at(&self, ns: u64) {
        self.start_ns.store(ns, Ordering::Relaxed);
    }

    pub(crate) fn start_ns(&self) -> Option<u64> {
        Some(self.start_ns.load(Ordering::Relaxed)).filter(|ns| *ns > 0)
    }

    /// Lets producers finish what is under way, and all others end.
    pub(crate) fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Ends everything without waiting for answers.
    pub(crate) fn abort(&self) {
        self.abort.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_aborted(&self) -> bool {
        self.abort.load(Ordering::Relaxed)
    }

    pub(crate) fn set_rate(&self, per_s: f64) {
        self.rate.store(per_s.to_bits(), Ordering::Relaxed);
        self.rate_changes.fetch_add(1, Ordering::Release);
    }

    /// How often the rate has changed, and the rate.
    pub(crate) fn rate(&self) -> (u64, f64) {
        (self.rate_changes.load(Ordering::Acquire), f64::from_bits(self.rate.load(Ordering::Relaxed)))
    }
}
