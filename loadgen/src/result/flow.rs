//! Records and bytes that went one way.

use serde::{Deserialize, Serialize};

/// Records and bytes that went one way in the measured window.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Flow {
    /// Records.
    pub records: u64,
    /// Bytes of their values.
    pub value_bytes: u64,
    /// Bytes of the batches as they went over the wire, compressed if a codec was set.
    pub batch_bytes: u64,
    /// Batches.
    pub batches: u64,
    /// Requests.
    pub requests: u64,
    /// Records a second.
    pub records_per_s: f64,
    /// MB (10^6 bytes of values) a second.
    pub mb_per_s: f64,
}

impl Flow {
    /// Works the rates out over `seconds`.
    pub fn over(mut self, seconds: f64) -> Self {
        let seconds = seconds.max(f64::EPSILON);
        self.records_per_s = self.records as f64 / seconds;
        self.mb_per_s = self.value_bytes as f64 / 1e6 / seconds;
        self
    }
}
