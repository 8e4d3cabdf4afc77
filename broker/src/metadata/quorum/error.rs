//! What goes wrong with the quorum.

use std::io;

use protocol::error::ErrorCode;
use protocol::wire::{DecodeError, EncodeError};

use crate::metadata::image::ApplyError;

/// Why the quorum can't start, can't take records, or can't go on.
#[derive(Debug, Clone, thiserror::Error)]
pub enum QuorumError {
    // The operator's.
    /// A file is of another kind, of a newer version, or of another node or cluster.
    #[error("{file}: {why}")]
    Refused {
        /// Path.
        file: String,
        /// What is wrong.
        why: String,
    },
    // The disk's.
    /// A file is damaged where it was known to be durable: nothing is cut off silently.
    #[error("{file} is damaged: {why}")]
    Damaged {
        /// Path.
        file: String,
        /// Where and how.
        why: String,
    },
    /// The file system failed. After a failed write or sync the quorum is at its end.
    #[error("{file}: {kind}: {why}")]
    Io {
        /// Path.
        file: String,
        /// What kind of error.
        kind: io::ErrorKind,
        /// What the system said.
        why: String,
    },
    /// There is no space for more records. Earlier ones are safe, and later ones may find space again.
    #[error("no space for more metadata")]
    DiskFull,
    // Ours.
    /// Records that can't be written or read.
    #[error("metadata record: {0}")]
    Record(String),
    /// The records of one operation are too many bytes.
    #[error("an entry of {0} bytes is too large")]
    TooLarge(usize),
    /// raft-rs refused.
    #[error("raft: {0}")]
    Raft(String),
    // Nobody's.
    /// The quorum was stopped.
    #[error("the metadata quorum is stopped")]
    Stopped,
}

impl QuorumError {
    /// The code that requests get.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Damaged { .. } | Self::Io { .. } | Self::DiskFull => ErrorCode::KAFKA_STORAGE_ERROR,
            Self::TooLarge(_) => ErrorCode::POLICY_VIOLATION,
            Self::Stopped => ErrorCode::NOT_CONTROLLER,
            Self::Refused { .. } | Self::Record(_) | Self::Raft(_) => ErrorCode::UNKNOWN_SERVER_ERROR,
        }
    }

    pub(super) fn io(file: &std::path::Path, error: &io::Error) -> Self {
        Self::Io { file: file.display().to_string(), kind: error.kind(), why: error.to_string() }
    }
}

impl From<raft::Error> for QuorumError {
    fn from(error: raft::Error) -> Self {
        Self::Raft(error.to_string())
    }
}

impl From<ApplyError> for QuorumError {
    fn from(error: ApplyError) -> Self {
        Self::Record(error.to_string())
    }
}

impl From<DecodeError> for QuorumError {
    fn from(error: DecodeError) -> Self {
        Self::Record(error.to_string())
    }
}

impl From<EncodeError> for QuorumError {
    fn from(error: EncodeError) -> Self {
        Self::Record(error.to_string())
    }
}
