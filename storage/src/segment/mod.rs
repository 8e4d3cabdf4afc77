//! Files of one segment: names, batches, indexes.
pub mod index;
pub mod names;
pub mod time_index;

pub use index::{IndexEntry, OffsetIndex};
pub use time_index::{TimeEntry, TimeIndex};
