//! What the benchmark of 2014 reported.

use serde::{Deserialize, Serialize};

/// What the benchmark of 2014 reported for a line: three machines of six disks each, gigabit Ethernet. Given for
/// orientation; nothing about the machines is alike.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Figure {
    /// Records a second.
    pub records_per_s: Option<f64>,
    /// MB a second, as reported.
    pub mb_per_s: Option<f64>,
    /// Median latency, in ms.
    pub p50_ms: Option<f64>,
    /// 99th percentile, in ms.
    pub p99_ms: Option<f64>,
    /// 99.9th percentile, in ms.
    pub p999_ms: Option<f64>,
}
