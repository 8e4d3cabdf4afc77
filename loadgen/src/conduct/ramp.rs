//! Which rate is tried next.

use crate::result::RampStep;
use crate::scenario::RampSpec;

/// Share of the rate asked for that counts as reached.
const REACHED: f64 = 0.97;

/// Looks for the highest rate that keeps the bound: rises by a factor until a step fails, then halves what is
/// between. Pure: told of each step, it says what to try next.
#[derive(Debug)]
pub(super) struct Ramp {
    spec: RampSpec,
    good_per_s: Option<f64>,
    bad_per_s: Option<f64>,
    refined: u32,
    pub(super) steps: Vec<RampStep>,
}

/// Steps of a ramp at the most.
const STEPS_MAX: usize = 60;

impl Ramp {
    pub(super) fn new(spec: RampSpec) -> Self {
        Self { spec, good_per_s: None, bad_per_s: None, refined: 0, steps: Vec::new() }
    }

    pub(super) fn spec(&self) -> &RampSpec {
        &self.spec
    }

    /// Judges a step.
    pub(super) fn judge(&self, rate_target: f64, records_per_s: f64, p99_ms: f64) -> RampStep {
        let kept = p99_ms <= self.spec.p99_max_ms && records_per_s >= REACHED * rate_target;
        RampStep { rate_target, records_per_s, p99_ms, kept }
    }

    /// A step is over; the next rate, or none when the highest is found.
    pub(super) fn next(&mut self, step: RampStep) -> Option<f64> {
        if step.kept {
            self.good_per_s = Some(step.rate_target);
        } else {
            self.bad_per_s = Some(step.rate_target);
        }
        self.steps.push(step);
        if self.steps.len() >= STEPS_MAX {
            return None;
        }
        match (self.good_per_s, self.bad_per_s) {
            (Some(good), None) => Some(good * self.spec.factor),
            (good, Some(bad)) if self.refined < self.spec.refine => {
                self.refined += 1;
                Some((good.unwrap_or(0.0) + bad) / 2.0)
            }
            _ => None,
        }
    }
}
