//! Axes: where a value lies, and which values are named.

/// From values to a share of an axis's length, 0 to 1.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Axis {
    /// From 0 to `max`.
    Linear {
        /// Its end.
        max: f64,
        /// The values to name.
        ticks: Vec<f64>,
    },
    /// By the logarithm, from `min` to `max`, both above 0.
    Log {
        /// Its begin.
        min: f64,
        /// Its end.
        max: f64,
        /// The values to name.
        ticks: Vec<f64>,
    },
}

/// Above this ratio of largest to smallest, a straight axis hides the small ones.
const LOG_FROM: f64 = 25.0;

impl Axis {
    /// A straight axis that holds 0 and all values, with about `ticks` names.
    pub(super) fn linear(values: impl Iterator<Item = f64>, ticks: usize) -> Axis {
        let largest = values.fold(0.0, f64::max);
        let step = step(if largest > 0.0 { largest } else { 1.0 }, ticks);
        let count = (largest / step).ceil().max(1.0);
        let ticks = (0..=count as usize).map(|at| at as f64 * step).collect();
        Axis::Linear { max: count * step, ticks }
    }

    /// An axis for latencies: straight while the values are alike, else by the logarithm.
    pub(super) fn fitting(values: impl Iterator<Item = f64> + Clone, ticks: usize) -> Axis {
        let largest = values.clone().fold(0.0, f64::max);
        let smallest = values.clone().filter(|value| *value > 0.0).fold(f64::INFINITY, f64::min);
        if largest <= smallest * LOG_FROM {
            Axis::linear(values, ticks)
        } else {
            Axis::log(smallest, largest)
        }
    }

    fn log(smallest: f64, largest: f64) -> Axis {
        let min = 10f64.powf(smallest.log10().floor());
        let max = 10f64.powf(largest.log10().ceil());
        let decades = (max / min).log10().round() as i32;
        let steps: &[f64] = if decades <= 3 { &[1.0, 2.0, 5.0] } else { &[1.0] };
        let first = min.log10().round() as i32;
        let all = (first..=first + decades)
            .flat_map(|power| steps.iter().map(move |step| step * 10f64.powi(power)));
        // A little above: powers of ten aren't exact.
        Axis::Log { min, max, ticks: all.filter(|tick| *tick <= max * 1.001).collect() }
    }

    /// The values to name, ascending.
    pub(super) fn ticks(&self) -> &[f64] {
        match self {
            Axis::Linear { ticks, .. } | Axis::Log { ticks, .. } => ticks,
        }
    }

    /// Where a value lies, 0 to 1; what lies outside is put at the edge.
    pub(super) fn share(&self, value: f64) -> f64 {
        let share = match self {
            Axis::Linear { max, .. } => value / max,
            Axis::Log { min, max, .. } => (value.max(*min) / min).log10() / (max / min).log10(),
        };
        share.clamp(0.0, 1.0)
    }
}

/// 1, 2 or 5 times a power of ten, so that about `count` of them make `largest`.
fn step(largest: f64, count: usize) -> f64 {
    let rough = largest / count.max(1) as f64;
    let power = 10f64.powf(rough.log10().floor());
    let lead = rough / power;
    let lead = [1.0, 2.0, 5.0].into_iter().find(|step| lead <= step * 1.0001).unwrap_or(10.0);
    lead * power
}
