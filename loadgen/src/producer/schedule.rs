//! When records are meant to be sent.

/// The intended send times of one producer.
#[derive(Debug, Clone)]
pub(crate) struct Schedule {
    /// 0: whenever there is room.
    rate_per_s: f64,
    base_ns: u64,
    /// Records since the base.
    sent: u64,
}

impl Schedule {
    /// `rate_per_s` from `base_ns` on; 0 for a closed loop.
    pub(crate) fn new(rate_per_s: f64, base_ns: u64) -> Self {
        Self { rate_per_s, base_ns, sent: 0 }
    }

    pub(crate) fn is_open(&self) -> bool {
        self.rate_per_s > 0.0
    }

    /// When the next record is meant to be sent; none in a closed loop. It doesn't depend on whether the last one
    /// could be: what a slow broker holds up is late, not left out.
    pub(crate) fn next_ns(&self) -> Option<u64> {
        self.is_open().then(|| self.base_ns + (self.sent as f64 * 1e9 / self.rate_per_s) as u64)
    }

    /// The next record was made.
    pub(crate) fn advance(&mut self) {
        self.sent += 1;
    }
}
