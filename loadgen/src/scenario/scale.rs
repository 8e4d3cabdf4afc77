//! Shrinking a load.

use std::str::FromStr;

use super::{Line, ProduceSpec};

/// How far a scenario is shrunk: 1 is full size, `small` is 0.04.
///
/// Numbers of records shrink by the factor itself; times, rates and numbers of partitions, producers and
/// consumers by its square root, but not below what still shows something.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scale(f64);

/// What `small` means: two cores, minutes instead of hours.
const SMALL: f64 = 0.04;
/// Shortest window, in s.
const DURATION_MIN_S: f64 = 3.0;
/// Counts up to this stay as they are.
const COUNT_KEPT: f64 = 16.0;
/// Record counts up to this stay as they are.
const RECORDS_KEPT: u64 = 100_000;

impl Scale {
    /// Full size.
    pub const FULL: Self = Self(1.0);

    /// The factor.
    pub fn factor(self) -> f64 {
        self.0
    }

    pub(super) fn shrink(self, line: &mut Line) {
        if self.0 >= 1.0 {
            return;
        }
        line.duration_s = self.seconds(line.duration_s);
        line.warmup_s *= self.0.sqrt().max(0.5);
        line.topic.topics = self.count(line.topic.topics);
        line.topic.partitions = self.count(line.topic.partitions.unsigned_abs()) as i32;
        for produce in line.produce.iter_mut().chain(&mut line.backlog) {
            self.shrink_produce(produce);
        }
        if let Some(consume) = &mut line.consume {
            consume.consumers = self.count(consume.consumers);
            consume.groups = self.count(consume.groups);
        }
        if let Some(ramp) = &mut line.ramp {
            ramp.start_per_s = (ramp.start_per_s * self.0.sqrt()).max(1.0);
            ramp.step_s = self.seconds(ramp.step_s);
        }
        if let Some(churn) = &mut line.churn {
            churn.connections_per_s *= self.0.sqrt();
            churn.rejoins_per_s *= self.0.sqrt();
        }
    }

    fn shrink_produce(self, produce: &mut ProduceSpec) {
        produce.records = self.records(produce.records);
        produce.producers = self.count(produce.producers);
        produce.rate_per_s *= self.0.sqrt();
    }

    fn records(self, records: u64) -> u64 {
        ((records as f64 * self.0) as u64).max(records.min(RECORDS_KEPT))
    }

    fn seconds(self, seconds: f64) -> f64 {
        (seconds * self.0.sqrt()).max(seconds.min(DURATION_MIN_S))
    }

    fn count(self, count: u32) -> u32 {
        let count = f64::from(count);
        (count * self.0.sqrt()).round().max(count.min(COUNT_KEPT)) as u32
    }
}

impl Default for Scale {
    fn default() -> Self {
        Self::FULL
    }
}

impl FromStr for Scale {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "full" => Ok(Self::FULL),
            "small" => Ok(Self(SMALL)),
            number => {
                let factor = number.parse::<f64>().ok().filter(|factor| *factor > 0.0 && *factor <= 1.0);
                factor
                    .map(Self)
                    .ok_or_else(|| format!("{text:?} is neither small, full, nor between 0 and 1"))
            }
        }
    }
}

impl std::fmt::Display for Scale {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.0)
    }
}
