//! Files of one segment: names, batches, indexes.
pub(crate) mod index;
pub(crate) mod names;
pub(crate) mod reader;
pub(crate) mod time_index;
pub(crate) mod txn_index;

pub(crate) use index::OffsetIndex;
pub(crate) use reader::{SegmentReader, WalkError};
pub(crate) use time_index::TimeIndex;
