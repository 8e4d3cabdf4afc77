//! From counts to a line's result.

use super::host;
use crate::engine::{Counter, Stats};
use crate::result::{ClientCost, Flow, Latency, LineResult, Second};

/// What was counted in a window, and how long that was.
#[derive(Debug, Clone, Default)]
pub(super) struct Window {
    pub(super) stats: Stats,
    pub(super) seconds: f64,
    pub(super) cpu_s: f64,
}

impl Window {
    /// Fills a result.
    pub(super) fn fill(&self, result: &mut LineResult, shards: u16) {
        result.measured_s = self.seconds;
        result.produced = flow(&self.stats.produced, self.seconds);
        result.consumed = flow(&self.stats.consumed, self.seconds);
        result.produce_latency = Latency::of_us(&self.stats.produce_us);
        result.fetch_latency = Latency::of_us(&self.stats.fetch_us);
        result.end_to_end_latency = Latency::of_us(&self.stats.end_to_end_us);
        let records = self.stats.produced.records + self.stats.consumed.records;
        result.client = ClientCost {
            cpu_s: self.cpu_s,
            cpu_us_per_record: self.cpu_s * 1e6 / records.max(1) as f64,
            shards: u32::from(shards),
            is_limit: self.cpu_s > 0.5 * f64::from(host::cores()) * self.seconds,
        };
    }
}

/// Nothing if nothing went that way.
fn flow(counter: &Counter, seconds: f64) -> Option<Flow> {
    let flow = Flow {
        records: counter.records,
        value_bytes: counter.value_bytes,
        batch_bytes: counter.batch_bytes,
        batches: counter.batches,
        requests: counter.requests,
        ..Flow::default()
    };
    (counter.requests > 0).then(|| flow.over(seconds))
}

/// One tick as a point of the series.
pub(super) fn second(stats: &Stats, at_s: f64, length_s: f64) -> Second {
    let length_s = length_s.max(f64::EPSILON);
    let ms = |histogram: &hdrhistogram::Histogram<u64>, quantile| {
        histogram.value_at_quantile(quantile) as f64 / 1000.0
    };
    let main = if stats.produced.requests > 0 { stats.produced } else { stats.consumed };
    Second {
        at_s,
        produced_per_s: stats.produced.records as f64 / length_s,
        consumed_per_s: stats.consumed.records as f64 / length_s,
        mb_per_s: main.value_bytes as f64 / 1e6 / length_s,
        produce_p50_ms: ms(&stats.produce_us, 0.5),
        produce_p99_ms: ms(&stats.produce_us, 0.99),
        end_to_end_p50_ms: ms(&stats.end_to_end_us, 0.5),
        end_to_end_p99_ms: ms(&stats.end_to_end_us, 0.99),
        lag_records: stats.lag,
        errors: stats.errors_total(),
    }
}
