//! A fast generator: xorshift64*.

/// Good enough to choose keys and fill values, and cheap enough not to show in a profile.
#[derive(Debug, Clone)]
pub(crate) struct Rng(u64);

impl Rng {
    /// The same numbers for the same seed.
    pub(crate) fn new(seed: u64) -> Self {
        // A state of 0 would stay 0; neighbouring seeds must not give neighbouring numbers.
        let mut rng = Self((seed ^ 0x9e37_79b9_7f4a_7c15).wrapping_mul(0xbf58_476d_1ce4_e5b9) | 1);
        (0..4).for_each(|_| {
            rng.next();
        });
        rng
    }

    /// 64 bits, of which the upper ones are the better.
    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// A number below `end`, which isn't 0.
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(end)) >> 64) as u64
    }

    /// A number from 0 to 1, 1 excluded.
    pub(crate) fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }
}
