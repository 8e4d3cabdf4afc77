//! How long a record's value is.

use super::Rng;
use crate::scenario::Sizes;

/// Draws lengths, in bytes.
#[derive(Debug, Clone)]
pub(crate) enum SizeDraw {
    Fixed(usize),
    Between {
        min: usize,
        max: usize,
    },
    /// Lengths, each with the share of those before and of its own, rising to 1.
    Weighted(Vec<(usize, f64)>),
}

impl SizeDraw {
    pub(crate) fn new(sizes: &Sizes) -> Self {
        if let Some(fixed) = sizes.fixed() {
            return Self::Fixed(fixed);
        }
        match sizes {
            Sizes::Fixed(bytes) => Self::Fixed(*bytes),
            Sizes::Between { min, max } => Self::Between { min: *min, max: *max },
            Sizes::Weighted(sizes) => {
                let total: f64 = sizes.iter().map(|(_, weight)| *weight).sum();
                let mut sum = 0.0;
                let shares = sizes.iter().map(|(bytes, weight)| {
                    sum += weight / total;
                    (*bytes, sum)
                });
                Self::Weighted(shares.collect())
            }
        }
    }

    pub(crate) fn draw(&self, rng: &mut Rng) -> usize {
        match self {
            Self::Fixed(bytes) => *bytes,
            Self::Between { min, max } => min + rng.below((max - min) as u64 + 1) as usize,
            Self::Weighted(sizes) => {
                let at = rng.unit();
                let found = sizes.iter().find(|(_, share)| at < *share).or(sizes.last());
                found.map_or(0, |(bytes, _)| *bytes)
            }
        }
    }
}
