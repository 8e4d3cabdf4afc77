//! Hash maps whose order a simulation can repeat.

use std::hash::{BuildHasher, Hasher};

/// A map with [`FixedState`].
#[allow(clippy::disallowed_types, reason = "its hasher is ours")]
pub type HashMap<K, V> = std::collections::HashMap<K, V, FixedState>;
/// A set with [`FixedState`].
#[allow(clippy::disallowed_types, reason = "its hasher is ours")]
pub type HashSet<K> = std::collections::HashSet<K, FixedState>;

/// The seed of every hasher: one per process, so that peers can't aim at collisions; a constant wherever the
/// simulator is built in, so that iteration repeats.
fn seed() -> u64 {
    #[cfg(feature = "sim")]
    return 0x5169_6D75_6C61_7465;
    #[cfg(not(feature = "sim"))]
    {
        use std::sync::OnceLock;
        static SEED: OnceLock<u64> = OnceLock::new();
        #[allow(
            clippy::disallowed_types,
            reason = "the one place that takes the operating system's randomness"
        )]
        *SEED.get_or_init(|| std::collections::hash_map::RandomState::new().hash_one(0_u64))
    }
}

/// Builds hashers that all start from the same seed.
#[derive(Clone, Copy, Debug)]
pub struct FixedState(u64);

impl Default for FixedState {
    fn default() -> FixedState {
        FixedState(seed())
    }
}

impl BuildHasher for FixedState {
    type Hasher = FixedHasher;

    fn build_hasher(&self) -> FixedHasher {
        FixedHasher(self.0)
    }
}

/// Folds 8 bytes a step by a 128-bit multiplication.
#[derive(Clone, Copy, Debug)]
pub struct FixedHasher(u64);

impl FixedHasher {
    fn fold(&mut self, word: u64) {
        let product = u128::from(self.0 ^ word) * u128::from(0x9E37_79B9_7F4A_7C15_u64);
        // The rotation keeps a fold of 0 from ending all memory of what came before.
        self.0 = ((product as u64) ^ (product >> 64) as u64).rotate_left(23).wrapping_add(word | 1);
    }
}

impl Hasher for FixedHasher {
    fn write(&mut self, bytes: &[u8]) {
        let mut words = bytes.chunks_exact(8);
        for word in &mut words {
            let mut le = [0; 8];
            le.copy_from_slice(word);
            self.fold(u64::from_le_bytes(le));
        }
        let mut last = [0; 8];
        let rest = words.remainder();
        last[..rest.len()].copy_from_slice(rest);
        self.fold(u64::from_le_bytes(last) ^ (bytes.len() as u64) << 56);
    }

    fn write_u64(&mut self, word: u64) {
        self.fold(word);
    }

    fn write_u32(&mut self, word: u32) {
        self.fold(u64::from(word));
    }

    fn write_usize(&mut self, word: usize) {
        self.fold(word as u64);
    }

    fn finish(&self) -> u64 {
        let z = (self.0 ^ (self.0 >> 32)).wrapping_mul(0xD6E8_FEB8_6659_FD93);
        z ^ (z >> 32)
    }
}
