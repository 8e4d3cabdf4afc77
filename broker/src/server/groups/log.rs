//! A partition of `__consumer_offsets` as its coordinator's log.

use std::rc::Rc;

use bytes::{Bytes, BytesMut};
use futures_util::FutureExt;
use protocol::error::ErrorCode;
use protocol::records::RecordBatch;
use shards::{Partition, PartitionError};
use storage::{Offset, ReadError, Reservation};

use crate::group::coordinator::{CommitWait, CoordinatorLog, LogError};

/// The leader of a partition, written by its coordinator alone. Cloning shares it.
///
/// A coordinator appends without awaiting. Mostly there is space in the segment file and the log gives it at once. While the file grows
/// or the next segment is made, or memory is short, the coordinator waits for room and decides anew.
#[derive(Debug, Clone)]
pub(super) struct PartitionLog(Rc<Partition>);

impl PartitionLog {
    pub(super) fn new(partition: Rc<Partition>) -> Self {
        Self(partition)
    }

    pub(super) fn partition(&self) -> &Partition {
        &self.0
    }

    fn reserve_now(&self, batch: &RecordBatch) -> Result<Reservation, LogError> {
        match self.0.log().reserve_batch(batch).now_or_never() {
            Some(reserved) => reserved.map_err(|error| lost_or_refused(error.into())),
            // The log makes space from now on, whether somebody waits for it or not.
            None => Err(LogError::NoRoom { bytes: batch.total_bytes() }),
        }
    }
}

impl CoordinatorLog for PartitionLog {
    type Room = Reservation;

    fn append(&self, batch: Bytes, now_unix_ms: i64, room: Option<Reservation>) -> Result<i64, LogError> {
        if self.0.is_offline() {
            return Err(LogError::Lost);
        }
        let frame_bytes = batch.len();
        let batch = RecordBatch::parse(batch).map_err(|error| {
            tracing::error!(%error, "a coordinator built a batch that can't be read");
            LogError::Refused(ErrorCode::UNKNOWN_SERVER_ERROR)
        })?;
        // The log may have moved to another directory since it was given.
        let reservation =
            match room.filter(|room| room.bytes() >= batch.total_bytes() && room.is_of(&self.0.log())) {
                Some(room) => room,
                None => self.reserve_now(&batch)?,
            };
        let reservation = reservation.of_frame(frame_bytes);
        let appended = self.0.append_reserved(reservation, batch, now_unix_ms).map_err(lost_or_refused)?;
        Ok(appended.last_offset.plus(1).0)
    }

    async fn room(&self, bytes: usize) -> Result<Reservation, LogError> {
        if self.0.is_offline() {
            return Err(LogError::Lost);
        }
        self.0.log().reserve(bytes).await.map_err(|error| lost_or_refused(error.into()))
    }

    fn start_offset(&self) -> i64 {
        self.0.log().start_offset().0
    }

    fn end_offset(&self) -> i64 {
        self.0.log().end_offset().0
    }

    fn committed_offset(&self) -> i64 {
        self.0.high_watermark().0
    }

    async fn committed_past(&self, offset: i64) -> CommitWait {
        let partition = &self.0;
        loop {
            let log = partition.log();
            let moved = log.durable_moved().notified();
            if partition.is_offline() {
                return CommitWait::Lost;
            }
            if partition.high_watermark().0 > offset {
                return CommitWait::Passed;
            }
            moved.await;
        }
    }

    async fn read(&self, from: i64, bytes_max: usize) -> Result<Vec<Bytes>, LogError> {
        let log = self.0.log();
        let slice = log.read(Offset(from), log.end_offset(), bytes_max, true).await.map_err(|error| {
            tracing::error!(%error, "a group coordinator can't read its log");
            match error {
                ReadError::Offline | ReadError::OffsetOutOfRange { .. } => LogError::Lost,
                ReadError::Io { .. } => LogError::Refused(ErrorCode::KAFKA_STORAGE_ERROR),
                ReadError::Corrupt { .. } => LogError::Refused(ErrorCode::CORRUPT_MESSAGE),
            }
        })?;
        if slice.bufs.len() <= 1 {
            return Ok(slice.bufs);
        }
        // A batch may be spread over several buffers; whole ones are wanted.
        let mut joined = BytesMut::with_capacity(slice.bytes);
        slice.bufs.iter().for_each(|buf| joined.extend_from_slice(buf));
        Ok(vec![joined.freeze()])
    }
}

fn lost_or_refused(error: PartitionError) -> LogError {
    match error.code {
        ErrorCode::NOT_LEADER_OR_FOLLOWER => LogError::Lost,
        code => LogError::Refused(code),
    }
}
