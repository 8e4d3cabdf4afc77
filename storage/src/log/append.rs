//! Appending: in memory, in one piece, never awaiting.

use std::rc::Rc;

use protocol::records::RecordBatch;
use rt::sync::Permit;

use super::core::{AppendInfo, Origin, producer_of};
use super::handle::Log;
use super::inner::LogInner;
use crate::dir::stats::add;
use crate::limits::{FRAME_BYTES_ASSUMED, TAIL_BATCH_OVERHEAD_BYTES};
use crate::{AppendError, LeaderEpoch};

/// The right to append one batch of up to so many bytes: space in the segment file is allocated for it.
/// Dropping it gives the right back. A cut of the log makes it void.
///
/// Hold it no longer than it takes to append: while all bytes that may be unplaced are reserved, every other
/// append waits.
#[derive(Debug)]
pub struct Reservation {
    pub(crate) log: Rc<LogInner>,
    pub(crate) bytes: usize,
    pub(crate) permit: Option<Permit>,
    pub(crate) frame_bytes: usize,
    /// Cuts of the log before it was made.
    cuts: u64,
}

impl Reservation {
    /// Tells how large the allocation is that the batch is a slice of, in bytes. A batch that fills less than
    /// a quarter of it is copied, so that it doesn't keep the rest in memory; without this call 1 MiB is
    /// assumed.
    #[must_use]
    pub fn of_frame(mut self, frame_bytes: usize) -> Self {
        self.frame_bytes = frame_bytes;
        self
    }

    /// How many bytes are reserved.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Whether it is one of this log.
    pub fn is_of(&self, log: &Log) -> bool {
        Rc::ptr_eq(&self.log, &log.0)
    }

    pub(crate) fn new(log: &Rc<LogInner>, bytes: usize, permit: Permit) -> Self {
        log.reserved.set(log.reserved.get() + bytes as u64);
        let cuts = log.core.borrow().cuts;
        let (log, permit) = (log.clone(), Some(permit));
        Self { log, bytes, permit, frame_bytes: FRAME_BYTES_ASSUMED, cuts }
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.log.reserved.set(self.log.reserved.get() - self.bytes as u64);
    }
}

impl Log {
    /// Appends a leader's batch: gives it the next offsets and `epoch`, checks its producer's sequence, and
    /// stamps `now_ms` (ms since 1970) on it if the topic wants the broker's time. In memory: `written` and
    /// `synced` follow by themselves, soon.
    ///
    /// # Errors
    /// See [`AppendError`]; `Duplicate` is a success to the client. Nothing was changed.
    pub fn append(
        &self,
        reservation: Reservation,
        batch: RecordBatch,
        epoch: LeaderEpoch,
        now_ms: i64,
    ) -> Result<AppendInfo, AppendError> {
        self.append_from(reservation, &batch, Origin::Leader { epoch, now_ms })
    }

    /// Where the copy of a producer's batch is that the log has already, as an [`AppendError::Duplicate`]; `None` for a new batch.
    pub fn duplicate_of(&self, batch: &RecordBatch) -> Option<AppendError> {
        let producer = producer_of(batch.header()).filter(|producer| !producer.control)?;
        let checked = self.0.core.borrow().producers.check(&producer);
        checked.err().filter(|error| matches!(error, AppendError::Duplicate { .. }))
    }

    /// Appends a batch fetched from the leader, with its offsets and epoch. It may leave a gap, which
    /// compaction makes, but not go back.
    ///
    /// # Errors
    /// `Offline`, `NotContiguous`, `StaleEpoch`, `SegmentOffsetsFull`, `ReservationTooSmall`.
    pub fn append_as_follower(
        &self,
        reservation: Reservation,
        batch: RecordBatch,
    ) -> Result<AppendInfo, AppendError> {
        self.append_from(reservation, &batch, Origin::Follower { now_ms: rt::unix_ms() })
    }

    fn append_from(
        &self,
        mut reservation: Reservation,
        batch: &RecordBatch,
        origin: Origin,
    ) -> Result<AppendInfo, AppendError> {
        let log = &self.0;
        assert!(Rc::ptr_eq(log, &reservation.log), "a reservation of another log");
        if log.is_offline() || log.refuses_appends.get() {
            return Err(AppendError::Offline);
        }
        if reservation.cuts != log.core.borrow().cuts {
            return Err(AppendError::ReservationVoid);
        }
        let bytes = batch.total_bytes();
        if bytes > reservation.bytes {
            return Err(AppendError::ReservationTooSmall { bytes, reserved: reservation.bytes });
        }
        let config = log.config();
        let permit = reservation.permit.take();
        let info = log.core.borrow_mut().append(batch, origin, &config, reservation.frame_bytes, permit)?;
        log.marks.set_appended(info.last_offset.plus(1));
        let stats = &log.dir.stats;
        add(&stats.appended_batches, 1);
        add(&stats.appended_records, batch.header().records_count.max(0) as u64);
        add(&stats.appended_bytes, bytes as u64);
        let now_ms =
            if info.append_time_ms >= 0 { info.append_time_ms } else { batch.header().max_timestamp };
        log.roll_due.set(log.core.borrow().active.build.is_old(&config, now_ms));
        log.changed.set(true);
        log.dir.mark_dirty(log);
        log.dir.retain(log, bytes + TAIL_BATCH_OVERHEAD_BYTES);
        // The log's own bound; batches that aren't placed yet stay.
        while log.core.borrow().tail.held_bytes() > config.tail_bytes_max && log.evict_one() {}
        Ok(info)
    }
}
