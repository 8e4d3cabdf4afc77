//! What a node tells about itself: counted on each shard in its own cells, sent as plain data, written as Prometheus' text.
//!
//! ```text
//!   shard: cells ── snapshot ──(flume)──> admin thread: render ── text        families: the one list of what there is
//! ```
//!
//! There is no registry: a metric is a cell of the struct that it tells about, and the shard's state leads to all of them. Counting costs
//! an addition to a cell of the own shard; nothing is locked, shared or allocated, and no label is looked up.

mod apis;
mod clock;
mod families;
mod family;
pub mod limits;
mod positions;
mod render;
mod shard;
mod snapshot;
mod text;
mod topics;

pub use apis::{ApiCounter, ApiCounters, ApiIndex, ApiNumbers, Stage};
pub use clock::RequestClock;
pub use families::ALL;
pub use family::{Family, Kind};
pub use positions::{CommittedNumbers, PartitionNumbers};
pub use render::{NodeFacts, render};
pub use shard::ShardMetrics;
pub use snapshot::{ConnectionNumbers, DirNumbers, LogNumbers, MetadataNumbers, ShardSnapshot, snapshot};
pub use topics::{TopicNumbers, TopicTraffic};

#[cfg(test)]
mod tests;
