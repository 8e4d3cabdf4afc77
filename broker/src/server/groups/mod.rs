//! The group coordinators of a shard: one for each partition of `__consumer_offsets` that it owns.
//!
//! ```text
//!   api::* ── Piece::Group ── handle ── GroupCoordinator ── PartitionLog ── shards::Partition
//! ```

mod clock;
mod coordinators;
mod deleted_topics;
mod handle;
mod log;
mod numbers;
mod topics;

pub use coordinators::Coordinators;
pub(super) use deleted_topics::forget_deleted_topics;
pub use handle::handle;
pub use numbers::GroupNumbers;

#[cfg(test)]
mod tests;
