//! One second of a line.

use serde::{Deserialize, Serialize};

/// One second of the measured window; the last may be shorter.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Second {
    /// Its end, in s since the window began.
    pub at_s: f64,
    /// Records acknowledged, a second.
    pub produced_per_s: f64,
    /// Records consumed, a second.
    pub consumed_per_s: f64,
    /// MB (10^6 bytes of values) that went the line's main way, a second.
    pub mb_per_s: f64,
    /// Half of its produce latencies were no longer, in ms; 0 where none was measured.
    pub produce_p50_ms: f64,
    /// 99 in 100 of its produce latencies were no longer, in ms.
    pub produce_p99_ms: f64,
    /// Half of its end-to-end latencies were no longer, in ms.
    pub end_to_end_p50_ms: f64,
    /// 99 in 100 of its end-to-end latencies were no longer, in ms.
    pub end_to_end_p99_ms: f64,
    /// Records that consumers were behind at its end.
    pub lag_records: u64,
    /// Errors met.
    pub errors: u64,
}
