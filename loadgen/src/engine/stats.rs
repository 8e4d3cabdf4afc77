//! What a shard counts between two ticks.

use std::collections::BTreeMap;

use hdrhistogram::Histogram;

/// Records and bytes that went one way.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Counter {
    pub(crate) records: u64,
    pub(crate) value_bytes: u64,
    pub(crate) batch_bytes: u64,
    pub(crate) batches: u64,
    pub(crate) requests: u64,
}

impl Counter {
    pub(crate) fn add(&mut self, other: &Self) {
        self.records += other.records;
        self.value_bytes += other.value_bytes;
        self.batch_bytes += other.batch_bytes;
        self.batches += other.batches;
        self.requests += other.requests;
    }
}

/// All that one shard, or all shards together, counted in a span of time. Latencies are in us.
#[derive(Debug, Clone)]
pub(crate) struct Stats {
    pub(crate) produced: Counter,
    pub(crate) consumed: Counter,
    pub(crate) produce_us: Histogram<u64>,
    pub(crate) fetch_us: Histogram<u64>,
    pub(crate) end_to_end_us: Histogram<u64>,
    pub(crate) errors: BTreeMap<String, u64>,
    /// What happened besides, by name: connections opened, group members that joined or left.
    pub(crate) events: BTreeMap<String, u64>,
    /// Records that consumers are behind, at the span's end.
    pub(crate) lag: u64,
}

/// Longest latency told apart from longer ones: an hour.
const LATENCY_US_MAX: u64 = 3_600_000_000;
/// Kinds of errors told apart; further kinds are counted together.
const ERROR_KINDS_MAX: usize = 64;

fn histogram() -> Histogram<u64> {
    Histogram::new_with_bounds(1, LATENCY_US_MAX, 3).unwrap_or_else(|_| unreachable!("the bounds are sound"))
}

impl Default for Stats {
    fn default() -> Self {
        Self {
            produced: Counter::default(),
            consumed: Counter::default(),
            produce_us: histogram(),
            fetch_us: histogram(),
            end_to_end_us: histogram(),
            errors: BTreeMap::new(),
            events: BTreeMap::new(),
            lag: 0,
        }
    }
}

impl Stats {
    pub(crate) fn error(&mut self, what: &str) {
        self.errors_n(what, 1);
    }

    fn errors_n(&mut self, what: &str, n: u64) {
        let known = self.errors.contains_key(what) || self.errors.len() < ERROR_KINDS_MAX;
        *self.errors.entry(if known { what } else { "others" }.to_owned()).or_default() += n;
    }

    pub(crate) fn event(&mut self, what: &'static str) {
        *self.events.entry(what.to_owned()).or_default() += 1;
    }

    pub(crate) fn errors_total(&self) -> u64 {
        self.errors.values().sum()
    }

    /// Adds what another shard, or the next span, counted. Lags add up: for spans, set it to 0 before.
    pub(crate) fn add(&mut self, other: &Self) {
        self.produced.add(&other.produced);
        self.consumed.add(&other.consumed);
        // Same bounds: they always fit.
        let _ = self.produce_us.add(&other.produce_us);
        let _ = self.fetch_us.add(&other.fetch_us);
        let _ = self.end_to_end_us.add(&other.end_to_end_us);
        other.errors.iter().for_each(|(what, n)| self.errors_n(what, *n));
        other.events.iter().for_each(|(what, n)| *self.events.entry(what.clone()).or_default() += n);
        self.lag += other.lag;
    }
}

/// Notes a latency between two moments in ns, `n` times.
pub(crate) fn note(histogram: &mut Histogram<u64>, from_ns: u64, to_ns: u64, n: u64) {
    let us = (to_ns.saturating_sub(from_ns) / 1000).clamp(1, LATENCY_US_MAX);
    let _ = histogram.record_n(us, n);
}
