//! A committed batch of records.

use std::sync::Arc;

use protocol::internal::MetadataRecord;

/// Records that were committed together; applied to the image they follow, they make the next one. Cheap to clone:
/// every shard gets the same records.
#[derive(Debug, Clone, PartialEq)]
pub struct Delta {
    /// Offset of the first record; the image's `offset` + 1.
    pub base_offset: i64,
    /// Term of the quorum's leader that wrote them.
    pub epoch: i32,
    /// The records, not empty.
    pub records: Arc<[MetadataRecord]>,
}

impl Delta {
    /// Offset of the last record.
    pub fn last_offset(&self) -> i64 {
        self.base_offset + self.records.len() as i64 - 1
    }
}
