//! The seeded random source of a simulation: every choice the simulator makes is drawn from one of these.

use std::cell::Cell;
use std::ops::RangeInclusive;

/// A splitmix64 stream behind a `Cell`, so that it can be drawn from through a shared reference.
///
/// Each part of the simulator (scheduler, disk, network, nodes) has a stream of its own: a new draw in one part then
/// leaves the choices of the others as they were, which keeps a failing seed failing while the code is being changed.
#[derive(Debug)]
pub(crate) struct Rng(Cell<u64>);

impl Rng {
    /// A stream that `seed` and the part's `label` decide.
    pub(crate) fn new(seed: u64, label: u64) -> Rng {
        let rng = Rng(Cell::new(seed ^ label.wrapping_mul(0xD6E8_FEB8_6659_FD93)));
        rng.u64();
        rng
    }

    /// The next 64 bits.
    pub(crate) fn u64(&self) -> u64 {
        let state = self.0.get().wrapping_add(0x9E37_79B9_7F4A_7C15);
        self.0.set(state);
        let mut z = state;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number below `bound`; 0 when `bound` is 0. The bias of the multiplication is far below what a test could see.
    pub(crate) fn below(&self, bound: u64) -> u64 {
        ((u128::from(self.u64()) * u128::from(bound)) >> 64) as u64
    }

    /// An index into something of `len` elements.
    pub(crate) fn index(&self, len: usize) -> usize {
        self.below(len as u64) as usize
    }

    /// A number within `range`, both ends included.
    pub(crate) fn within(&self, range: &RangeInclusive<u64>) -> u64 {
        range.start() + self.below((range.end() - range.start()).saturating_add(1))
    }

    /// True in `percent` of the draws.
    pub(crate) fn percent(&self, percent: u64) -> bool {
        self.below(100) < percent
    }
}
