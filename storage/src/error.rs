//! Errors, by who is at fault.

use std::io;

use crate::{LeaderEpoch, Offset, TopicPartition};

/// The log can't be used any more: its directory failed, it was closed or deleted, or it is corrupt.
/// KAFKA_STORAGE_ERROR to clients.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the log is offline")]
pub struct Offline;

/// What an operation on files can end with.
#[derive(Debug, thiserror::Error)]
pub enum StorageError {
    /// The log or its directory is offline.
    #[error("the log is offline")]
    Offline,
    /// No space left for more records. Reads and deletes go on. KAFKA_STORAGE_ERROR to clients, who retry.
    #[error("no space left on the log directory")]
    NoSpace,
    /// More was asked to reserve than a segment may hold. RECORD_LIST_TOO_LARGE to clients.
    #[error("{bytes} bytes don't fit a segment of {segment_bytes} bytes")]
    TooLarge {
        /// Bytes asked for.
        bytes: u64,
        /// `segment.bytes`.
        segment_bytes: u64,
    },
    /// A file operation failed; if it was a write or a sync the whole log directory is offline now.
    #[error("{what}: {source}")]
    Io {
        /// What was being done, with the path.
        what: String,
        /// The system's error.
        #[source]
        source: io::Error,
    },
    /// The operator pointed two brokers, or the wrong one, at a directory.
    #[error("{path}: {reason}")]
    Refused {
        /// The directory or file.
        path: String,
        /// Why, in words for the operator.
        reason: String,
    },
    /// A file of the directory isn't what it should be.
    #[error("{path}: {reason}")]
    Corrupt {
        /// The file.
        path: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The log exists already.
    #[error("{0} exists already")]
    Exists(TopicPartition),
    /// There is no such log here.
    #[error("{0} isn't here")]
    Unknown(TopicPartition),
    /// The offset asked for lies outside of the log.
    #[error("offset {offset} is outside of {start}..={end}")]
    OutOfRange {
        /// The offset asked for.
        offset: Offset,
        /// Where the log starts.
        start: Offset,
        /// Where it ends.
        end: Offset,
    },
}

impl StorageError {
    /// An I/O error with what was being done, told apart from a full disk.
    pub fn io(what: impl Into<String>, source: io::Error) -> Self {
        if is_full(&source) {
            return Self::NoSpace;
        }
        Self::Io { what: what.into(), source }
    }

    /// A file that isn't what it should be.
    pub fn corrupt(path: impl Into<String>, reason: impl Into<String>) -> Self {
        Self::Corrupt { path: path.into(), reason: reason.into() }
    }
}

/// Whether an operation failed only for want of space, of the device or of a quota.
pub(crate) fn is_full(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
}

/// Whether the device failed: what else may go wrong with a path (no descriptors left, no such file) says
/// nothing about the medium.
pub(crate) fn is_device_error(error: &io::Error) -> bool {
    const EIO: i32 = 5;
    const EROFS: i32 = 30;
    matches!(error.raw_os_error(), Some(EIO | EROFS))
}

impl From<Offline> for StorageError {
    fn from(_: Offline) -> Self {
        Self::Offline
    }
}

/// Why a batch wasn't appended. Nothing was changed then.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum AppendError {
    /// KAFKA_STORAGE_ERROR.
    #[error("the log is offline")]
    Offline,
    /// This very batch is in the log already: answered with success and the old offset.
    #[error("a duplicate of the batch at {base_offset}")]
    Duplicate {
        /// Where its first record stands.
        base_offset: Offset,
        /// Where its last record stands: an acks=all answer waits for this one.
        last_offset: Offset,
        /// Its largest timestamp, in ms since 1970.
        timestamp_ms: i64,
    },
    /// OUT_OF_ORDER_SEQUENCE_NUMBER.
    #[error("sequence {sequence} of producer {producer_id} doesn't follow {expected_after}")]
    OutOfOrderSequence {
        /// The producer.
        producer_id: i64,
        /// First sequence of the batch.
        sequence: i32,
        /// Last sequence known, -1 without.
        expected_after: i32,
    },
    /// INVALID_PRODUCER_EPOCH.
    #[error("epoch {epoch} of producer {producer_id} is older than {current}")]
    InvalidProducerEpoch {
        /// The producer.
        producer_id: i64,
        /// Epoch of the batch.
        epoch: i16,
        /// Epoch known.
        current: i16,
    },
    /// The batch is larger than what was reserved: a fault of the caller.
    #[error("{bytes} bytes don't fit a reservation of {reserved} bytes")]
    ReservationTooSmall {
        /// Size of the batch.
        bytes: usize,
        /// Size of the reservation.
        reserved: usize,
    },
    /// The log was cut since it was reserved: the caller reserves again, if it still leads.
    #[error("the log was cut after the reservation")]
    ReservationVoid,
    /// The offsets would leave the 31 bits a segment has. [`crate::Log::reserve_batch`] rolls before that
    /// happens, but for a gap of that size.
    #[error("the segment's offsets are used up")]
    SegmentOffsetsFull,
    /// A follower's batch doesn't continue the log.
    #[error("a batch at {base_offset} doesn't continue a log that ends at {end}")]
    NotContiguous {
        /// First offset of the batch.
        base_offset: Offset,
        /// Where the log ends.
        end: Offset,
    },
    /// A batch of an older leader than the log's last.
    #[error("leader epoch {epoch} is older than {current}")]
    StaleEpoch {
        /// Epoch of the batch.
        epoch: LeaderEpoch,
        /// Last epoch in the log.
        current: LeaderEpoch,
    },
}

/// Why a read gave nothing.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// OFFSET_OUT_OF_RANGE.
    #[error("offset {offset} is outside of {start}..={end}")]
    OffsetOutOfRange {
        /// The offset asked for.
        offset: Offset,
        /// Where the log starts.
        start: Offset,
        /// Where it ends.
        end: Offset,
    },
    /// KAFKA_STORAGE_ERROR.
    #[error("the log is offline")]
    Offline,
    /// The device failed this read; only this read.
    #[error("{what}: {source}")]
    Io {
        /// What was being read.
        what: String,
        /// The system's error.
        #[source]
        source: io::Error,
    },
    /// CORRUPT_MESSAGE: what the file holds there isn't a record batch.
    #[error("{path} at {position}: {reason}")]
    Corrupt {
        /// The segment file.
        path: String,
        /// Where in it, in bytes.
        position: u64,
        /// What is wrong.
        reason: String,
    },
}

/// Why a compaction pass ended early. The log holds what it did before: some segments compacted, others not yet.
#[derive(Debug, thiserror::Error)]
pub enum CompactionError {
    /// The log was cut, closed or deleted meanwhile, or isn't to be compacted any more.
    #[error("the pass was called off")]
    CalledOff,
    /// No space left for compacted segments.
    #[error("no space left to compact into")]
    NoSpace,
    /// What the log holds can't be compacted. It isn't tried again until the next start.
    #[error("{0}")]
    Uncleanable(String),
    /// A file couldn't be opened, read or written: tried again later, unless the directory failed.
    #[error(transparent)]
    Storage(#[from] StorageError),
}

impl CompactionError {
    /// A file that compaction reads can't be opened or read. If it is shorter than it should be, the log is damaged.
    pub(crate) fn reading(what: impl Into<String>, error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::UnexpectedEof {
            return Self::Uncleanable(format!("{}: {error}", what.into()));
        }
        StorageError::io(what, error).into()
    }
}

impl From<ReadError> for CompactionError {
    fn from(error: ReadError) -> Self {
        match error {
            ReadError::Offline | ReadError::OffsetOutOfRange { .. } => Self::CalledOff,
            ReadError::Io { what, source } => Self::reading(what, source),
            corrupt @ ReadError::Corrupt { .. } => Self::Uncleanable(corrupt.to_string()),
        }
    }
}

/// Why waiting for a watermark ended without it: whether the records will survive is not known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum WaitError {
    /// The log went offline.
    #[error("the log went offline")]
    Offline,
    /// The log was cut below the offset waited for.
    #[error("the log was truncated")]
    Truncated,
}
