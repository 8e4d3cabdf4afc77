//! Shards by number.

/// A shard of this node, counted from 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ShardId(pub u16);

impl std::fmt::Display for ShardId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// The running task's shard.
///
/// # Panics
/// Outside of a shard.
pub fn shard() -> ShardId {
    #[cfg(feature = "sim")]
    if crate::sim::facade::is_simulated() {
        return ShardId(crate::sim::facade::shard());
    }
    crate::real::current::expect("rt::shard").id
}
