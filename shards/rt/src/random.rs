//! Randomness that a simulation can repeat.

/// 64 random bits of the operating system's, fit for keys and salts; on any thread. In a simulation the seed
/// gives them.
pub fn random_u64() -> u64 {
    #[cfg(feature = "sim")]
    if crate::sim::facade::is_simulated() {
        return crate::sim::facade::random_u64();
    }
    crate::real::random::u64()
}

/// `N` random bytes.
pub fn random_bytes<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    for chunk in bytes.chunks_mut(8) {
        chunk.copy_from_slice(&random_u64().to_le_bytes()[..chunk.len()]);
    }
    bytes
}
