//! Percentiles of one kind of waiting.

use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};

/// Percentiles of one kind of waiting, in ms, once a record.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Latency {
    /// How many were measured.
    pub count: u64,
    /// The mean.
    pub mean_ms: f64,
    /// Half were no longer.
    pub p50_ms: f64,
    /// 90 in 100 were no longer.
    pub p90_ms: f64,
    /// 95 in 100 were no longer.
    pub p95_ms: f64,
    /// 99 in 100 were no longer.
    pub p99_ms: f64,
    /// 999 in 1,000 were no longer.
    pub p999_ms: f64,
    /// 9,999 in 10,000 were no longer.
    pub p9999_ms: f64,
    /// The longest.
    pub max_ms: f64,
    /// The whole curve, from the shortest to the longest.
    pub curve: Vec<CurvePoint>,
}

/// One point of the percentile curve.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct CurvePoint {
    /// Percent of all that took no longer, 0 to 100.
    pub percentile: f64,
    /// How long that was, in ms.
    pub ms: f64,
}

/// Where the curve has its points.
const CURVE: [f64; 27] = [
    0.0, 5.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 75.0, 80.0, 85.0, 90.0, 92.5, 95.0, 97.5, 98.0, 99.0,
    99.5, 99.75, 99.9, 99.95, 99.975, 99.99, 99.995, 99.999, 100.0,
];

impl Latency {
    /// Reads a histogram of microseconds; nothing from an empty one.
    pub fn of_us(histogram: &Histogram<u64>) -> Option<Self> {
        if histogram.is_empty() {
            return None;
        }
        let at = |percentile: f64| histogram.value_at_percentile(percentile) as f64 / 1000.0;
        Some(Self {
            count: histogram.len(),
            mean_ms: histogram.mean() / 1000.0,
            p50_ms: at(50.0),
            p90_ms: at(90.0),
            p95_ms: at(95.0),
            p99_ms: at(99.0),
            p999_ms: at(99.9),
            p9999_ms: at(99.99),
            max_ms: histogram.max() as f64 / 1000.0,
            curve: CURVE.iter().map(|&percentile| CurvePoint { percentile, ms: at(percentile) }).collect(),
        })
    }
}
