//! Committed offsets: commit, fetch, expiry, deletion.

mod commit;
mod delete;
mod deleted_topics;
mod expire;
mod fetch;
mod store;

pub(crate) use commit::{commit_refusal, decide_commit};
pub(crate) use delete::{decide_delete, decide_offset_delete, expired_records};
pub(crate) use deleted_topics::topics_with_offsets;
pub use deleted_topics::{DeletedTopics, OffsetPlace};
pub(crate) use fetch::fetch;
pub use store::{Committed, GroupOffsets};
