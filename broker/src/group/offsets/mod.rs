//! Committed offsets: commit, fetch, expiry, deletion.

mod commit;
mod delete;
mod expire;
mod fetch;
mod store;

pub(crate) use commit::{commit_refusal, decide_commit};
pub(crate) use delete::{decide_delete, decide_offset_delete, deleted_topics, expired_records};
pub(crate) use fetch::fetch;
pub use store::{Committed, GroupOffsets};
