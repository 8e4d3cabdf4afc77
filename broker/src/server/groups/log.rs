//! A partition of `__consumer_offsets` as its coordinator's log.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use futures_util::FutureExt;
use protocol::error::ErrorCode;
use protocol::records::RecordBatch;
use rt::sync::Notify;
use shards::{Partition, PartitionError};
use storage::{Offset, ReadError, Reservation, StorageError};

use crate::group::coordinator::{CommitWait, CoordinatorLog, LogError};

/// Reservations kept ahead. With [`AHEAD_BYTES`] that is 64 KiB for each owned partition, 3 MiB of the shard's budget for all 50.
const AHEAD: usize = 8;
/// Size of each; most batches of a coordinator take a few hundred bytes.
const AHEAD_BYTES: usize = 8 * 1024;
/// How long to wait before the log is asked for space again that it couldn't give.
const RETRY: Duration = Duration::from_secs(1);

/// The leader of a partition, written by its coordinator alone. Cloning shares it.
///
/// A coordinator appends without awaiting. Mostly there is space in the segment file and the log gives it at once. While the file grows
/// or the next segment is made, batches use space that [`Self::top_up`] has reserved ahead. A larger batch is refused with a code on which
/// clients try again: by then the log has made the space that it was asked for.
#[derive(Debug, Clone)]
pub(super) struct PartitionLog(Rc<Inner>);

#[derive(Debug)]
struct Inner {
    partition: Rc<Partition>,
    ahead: RefCell<Vec<Reservation>>,
    /// The log couldn't give space when last asked.
    is_failing: Cell<bool>,
    used: Notify,
    topped_up: Notify,
}

impl PartitionLog {
    pub(super) fn new(partition: Rc<Partition>) -> Self {
        Self(Rc::new(Inner {
            partition,
            ahead: RefCell::default(),
            is_failing: Cell::new(false),
            used: Notify::new(),
            topped_up: Notify::new(),
        }))
    }

    pub(super) fn partition(&self) -> &Partition {
        &self.0.partition
    }

    /// Waits until some space is reserved ahead, so that a burst of requests slows down rather than be refused. Returns at once while the
    /// log gives none: then the append itself says so.
    pub(super) async fn room(&self) {
        loop {
            let topped_up = self.0.topped_up.notified();
            if !self.0.ahead.borrow().is_empty() || self.0.is_failing.get() || self.0.partition.is_offline() {
                return;
            }
            topped_up.await;
        }
    }

    /// Keeps space reserved ahead until the log goes offline; one task runs this.
    pub(super) async fn top_up(self) {
        let inner = &*self.0;
        loop {
            let used = inner.used.notified();
            if inner.ahead.borrow().len() >= AHEAD {
                used.await;
                continue;
            }
            match inner.partition.log().reserve(AHEAD_BYTES).await {
                Ok(reservation) => {
                    inner.ahead.borrow_mut().push(reservation);
                    inner.is_failing.set(false);
                    inner.topped_up.notify_waiters();
                }
                Err(error) => {
                    inner.is_failing.set(true);
                    inner.topped_up.notify_waiters();
                    if matches!(error, StorageError::Offline) {
                        return;
                    }
                    tracing::warn!(%error, "no space ahead for a group coordinator");
                    rt::sleep(RETRY).await;
                }
            }
        }
    }

    /// Gives the space ahead back: the leadership is gone.
    pub(super) fn release(&self) {
        let ahead = self.0.ahead.take();
        drop(ahead);
    }

    fn reservation(&self, batch: &RecordBatch) -> Result<Reservation, LogError> {
        let inner = &*self.0;
        let failed = match inner.partition.log().reserve_batch(batch).now_or_never() {
            Some(Ok(reservation)) => return Ok(reservation),
            Some(Err(error)) => lost_or_refused(error.into()),
            None if inner.is_failing.get() => LogError::Refused(ErrorCode::KAFKA_STORAGE_ERROR),
            None => LogError::Refused(ErrorCode::COORDINATOR_LOAD_IN_PROGRESS),
        };
        if batch.total_bytes() > AHEAD_BYTES {
            return Err(failed);
        }
        let taken = inner.ahead.borrow_mut().pop();
        inner.used.notify_waiters();
        taken.ok_or(failed)
    }
}

impl CoordinatorLog for PartitionLog {
    fn append(&self, batch: Bytes, now_unix_ms: i64) -> Result<i64, LogError> {
        if self.0.partition.is_offline() {
            return Err(LogError::Lost);
        }
        let frame_bytes = batch.len();
        let batch = RecordBatch::parse(batch).map_err(|error| {
            tracing::error!(%error, "a coordinator built a batch that can't be read");
            LogError::Refused(ErrorCode::UNKNOWN_SERVER_ERROR)
        })?;
        let reservation = self.reservation(&batch)?.of_frame(frame_bytes);
        let appended =
            self.0.partition.append_reserved(reservation, batch, now_unix_ms).map_err(lost_or_refused)?;
        Ok(appended.last_offset.plus(1).0)
    }

    fn start_offset(&self) -> i64 {
        self.0.partition.log().start_offset().0
    }

    fn end_offset(&self) -> i64 {
        self.0.partition.log().end_offset().0
    }

    fn committed_offset(&self) -> i64 {
        self.0.partition.high_watermark().0
    }

    async fn committed_past(&self, offset: i64) -> CommitWait {
        let partition = &self.0.partition;
        loop {
            let moved = partition.high_watermark_moved().notified();
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
        let log = self.0.partition.log();
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
