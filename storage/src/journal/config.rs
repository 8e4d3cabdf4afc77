//! [`JournalConfig`]: settings of one shard's journal.

use std::time::Duration;

use crate::limits::{BLOCK_BYTES, JOURNAL_FILE_BYTES_MIN, JOURNAL_FILES_MAX, WRITE_BYTES_MAX};

/// Settings of the journal of one shard in one directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JournalConfig {
    /// Which shard it is, for the names of its files.
    pub shard: u16,
    /// Bytes it may take on disk; 0: there is none, and every log is written and synced by itself
    /// (`ringlog.journal.bytes`).
    pub bytes: u64,
    /// A log with so many bytes to write is written to its segment directly; and so many bytes in the journal go
    /// to the segment in one piece (`ringlog.journal.direct.bytes`).
    pub direct_bytes: usize,
    /// Bytes that are in the journal only go to their segments after this time at the latest
    /// (`ringlog.journal.max.age.ms`).
    pub age_max: Duration,
}

impl Default for JournalConfig {
    /// None.
    fn default() -> Self {
        Self { shard: 0, bytes: 0, direct_bytes: 128 << 10, age_max: Duration::from_secs(10) }
    }
}

impl JournalConfig {
    /// Size of each of its files, in bytes.
    pub(crate) fn file_bytes(&self) -> u64 {
        let share = self.bytes / u64::from(JOURNAL_FILES_MAX);
        (share - share % BLOCK_BYTES as u64).max(JOURNAL_FILE_BYTES_MIN)
    }

    /// Largest frame, in bytes.
    pub(crate) fn frame_bytes_max(&self) -> usize {
        (self.file_bytes() as usize - BLOCK_BYTES).min(WRITE_BYTES_MAX)
    }
}
