//! The group coordinators of a shard: one for each partition of `__consumer_offsets` that it owns.
//!
//! ```text
//!   api::* ── Piece::Group ── handle ── GroupCoordinator ── PartitionLog ── shards::Partition
//! ```

mod clock;
mod coordinators;
mod handle;
mod log;
mod numbers;
mod topics;
mod unknown_topics;

pub use coordinators::Coordinators;
pub use handle::handle;
pub use numbers::GroupNumbers;
pub(super) use unknown_topics::forget_unknown_topics;

#[cfg(test)]
mod tests;
