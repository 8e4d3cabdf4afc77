//! Bookmarks of a shard's logs.

use protocol::types::Uuid;

use crate::bookmark::file;
use crate::{Offset, TopicPartition};

/// Where a start after a crash begins to scan a log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BookmarkPlace {
    /// The log.
    pub partition: TopicPartition,
    /// Its topic's id.
    pub topic_id: Uuid,
    /// Where the segment starts.
    pub segment: Offset,
    /// The place in it, in bytes.
    pub position: u64,
    /// The offset after the last record before it.
    pub next: Offset,
}

/// Reads `ringlog-bookmarks-<shard>`.
///
/// # Errors
/// Words for what is wrong with it.
pub fn bookmarks(file: &[u8]) -> Result<Vec<BookmarkPlace>, String> {
    let place = |(partition, (topic_id, mark)): (TopicPartition, (Uuid, crate::bookmark::mark::Bookmark))| {
        let (segment, next) = (Offset(mark.base), Offset(mark.next));
        BookmarkPlace { partition, topic_id, segment, position: mark.bytes, next }
    };
    Ok(file::decode(file)?.into_iter().map(place).collect())
}
