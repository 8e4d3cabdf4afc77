//! Which key a record gets.

use std::sync::Arc;

use super::Rng;
use crate::scenario::Keys;

/// Draws keys by number. Its table is shared by all producers.
#[derive(Debug, Clone)]
pub(crate) enum KeyDraw {
    None,
    Uniform(u64),
    /// The shares of the keys before and with each, rising to 1.
    Table(Arc<[f64]>),
    /// Key 0 is hot.
    Hot {
        others: u64,
        share: f64,
    },
}

impl KeyDraw {
    pub(crate) fn new(keys: Keys) -> Self {
        match keys {
            Keys::None => Self::None,
            Keys::Uniform(keys) => Self::Uniform(u64::from(keys)),
            Keys::Hot { keys, share } => Self::Hot { others: u64::from(keys), share },
            Keys::Zipf { keys, exponent } => {
                let weight = |key: u32| (f64::from(key) + 1.0).powf(-exponent);
                let total: f64 = (0..keys).map(weight).sum();
                let mut sum = 0.0;
                let shares = (0..keys).map(|key| {
                    sum += weight(key) / total;
                    sum
                });
                Self::Table(shares.collect())
            }
        }
    }

    /// The next key's number; none for records without keys. A binary search for Zipf's law, else a
    /// multiplication.
    pub(crate) fn draw(&self, rng: &mut Rng) -> Option<u64> {
        match self {
            Self::None => None,
            Self::Uniform(keys) => Some(rng.below(*keys)),
            Self::Table(shares) => {
                let at = rng.unit();
                Some(shares.partition_point(|share| *share <= at).min(shares.len() - 1) as u64)
            }
            Self::Hot { others, share } => Some(if rng.unit() < *share { 0 } else { 1 + rng.below(*others) }),
        }
    }
}
