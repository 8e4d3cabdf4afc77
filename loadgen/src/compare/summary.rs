//! One figure over all rounds.

use serde::{Deserialize, Serialize};

/// The rounds' values, with what is told of them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// The middle one; of an even number the mean of the middle two.
    pub median: f64,
    /// The lowest.
    pub min: f64,
    /// The highest.
    pub max: f64,
    /// All, in the order of the rounds.
    pub values: Vec<f64>,
}

impl Summary {
    /// Of the values of all rounds. `None` without any, or with one that is no number.
    pub fn of(values: Vec<f64>) -> Option<Summary> {
        if values.is_empty() || values.iter().any(|value| !value.is_finite()) {
            return None;
        }
        let mut sorted = values.clone();
        sorted.sort_by(f64::total_cmp);
        let (low, high) = (sorted[(sorted.len() - 1) / 2], sorted[sorted.len() / 2]);
        Some(Summary { median: (low + high) / 2.0, min: sorted[0], max: sorted[sorted.len() - 1], values })
    }

    /// How far apart lowest and highest are, as a share of the median.
    pub fn spread(&self) -> f64 {
        if self.median == 0.0 { 0.0 } else { (self.max - self.min) / self.median.abs() }
    }

    /// The round whose value is nearest to the median: the one to show a curve of.
    pub fn median_round(&self) -> usize {
        let distance = |at: &usize| (self.values[*at] - self.median).abs();
        (0..self.values.len()).min_by(|a, b| distance(a).total_cmp(&distance(b))).unwrap_or(0)
    }
}
