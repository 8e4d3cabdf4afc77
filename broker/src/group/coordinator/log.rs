//! The seam between a coordinator and the partition that holds its log.

use std::future::Future;

use bytes::Bytes;
use protocol::error::ErrorCode;

/// What a coordinator needs of its partition's leader replica. Offsets are the partition's.
///
/// The implementation MUST keep these: offsets given by `append` are visible to `end_offset` at once; `committed_offset` never falls while
/// the leadership lasts; after [`CommitWait::Lost`], or an append refused with [`LogError::Lost`], nothing of this log is true any more
/// and every call says so.
pub trait CoordinatorLog {
    /// The right to append a batch of up to so many bytes, for which space is made. Dropping it gives it back.
    type Room;

    /// Appends a built batch, into `room` if that is large enough; gives the offset after its last record. Never awaits.
    ///
    /// # Errors
    /// `NoRoom`: nothing was appended; space must be made first, which has begun, and [`Self::room`] waits for. `Refused`: nothing was
    /// appended, and the log is as it was. `Lost`: see above.
    fn append(&self, batch: Bytes, now_unix_ms: i64, room: Option<Self::Room>) -> Result<i64, LogError>;

    /// Waits until a batch of `bytes` may be appended. Cancelled by dropping.
    ///
    /// # Errors
    /// `Refused`: there is no space. `Lost`: see above.
    fn room(&self, bytes: usize) -> impl Future<Output = Result<Self::Room, LogError>>;

    /// The first offset there is.
    fn start_offset(&self) -> i64;

    /// The offset after the last appended record.
    fn end_offset(&self) -> i64;

    /// The high watermark.
    fn committed_offset(&self) -> i64;

    /// Waits until the high watermark is above `offset`, or the log is lost. Cancelled by dropping.
    fn committed_past(&self, offset: i64) -> impl Future<Output = CommitWait>;

    /// Reads whole batches from the one that holds `from` on, up to about `bytes_max` but at least one; none at the end. Used
    /// for loading only.
    fn read(&self, from: i64, bytes_max: usize) -> impl Future<Output = Result<Vec<Bytes>, LogError>>;
}

/// How a wait for the high watermark ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommitWait {
    /// It is there.
    Passed,
    /// The leadership is lost, or the log has failed.
    Lost,
}

/// Why the log didn't do it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum LogError {
    /// This append or read only, with the partition's own code for it.
    #[error("the coordinator's log refused: {0}")]
    Refused(ErrorCode),
    /// There is no space made yet for a batch of so many bytes.
    #[error("the coordinator's log has no room yet for {bytes} bytes")]
    NoRoom {
        /// The batch's length.
        bytes: usize,
    },
    /// The leadership is lost, or the log has failed: the state is to be dropped.
    #[error("the coordinator's log is lost")]
    Lost,
}

impl LogError {
    /// The code a coordinator answers with, as Kafka's does for its writes.
    pub fn coordinator_code(self) -> ErrorCode {
        match self {
            Self::Lost => ErrorCode::NOT_COORDINATOR,
            Self::NoRoom { .. } => ErrorCode::COORDINATOR_NOT_AVAILABLE,
            Self::Refused(
                ErrorCode::UNKNOWN_TOPIC_OR_PARTITION
                | ErrorCode::NOT_ENOUGH_REPLICAS
                | ErrorCode::NOT_ENOUGH_REPLICAS_AFTER_APPEND
                | ErrorCode::REQUEST_TIMED_OUT,
            ) => ErrorCode::COORDINATOR_NOT_AVAILABLE,
            Self::Refused(ErrorCode::NOT_LEADER_OR_FOLLOWER | ErrorCode::KAFKA_STORAGE_ERROR) => {
                ErrorCode::NOT_COORDINATOR
            }
            Self::Refused(
                ErrorCode::MESSAGE_TOO_LARGE
                | ErrorCode::RECORD_LIST_TOO_LARGE
                | ErrorCode::INVALID_FETCH_SIZE,
            ) => ErrorCode::UNKNOWN_SERVER_ERROR,
            Self::Refused(code) => code,
        }
    }
}
