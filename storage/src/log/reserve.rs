//! Reserving: the awaiting half of an append. Space is found here, and a full disk is met here.

use std::rc::Rc;

use protocol::records::RecordBatch;

use super::append::Reservation;
use super::handle::Log;
use super::inner::LogInner;
use crate::config::TimestampSource;
use crate::limits::PRESET_BYTES_MIN;
use crate::unless::unless;
use crate::{LogConfig, Offset, StorageError};

/// What the active segment lacks to take a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lack {
    /// Nothing: there is space. `true`: soon there won't be.
    Nothing { low: bool },
    /// Allocated space, or its file.
    Space,
    /// It is full: the next segment.
    Roll,
}

impl Log {
    /// Waits until a batch of `bytes` may be appended: until memory for it is free, and until the segment
    /// file has space for it. Costs nothing but counting in the common case; otherwise the file grows (64 KiB
    /// up to 32 MiB at a time), or the segment is rolled: by time one batch later than by
    /// [`Self::reserve_batch`], as only that one knows the batch's timestamp.
    ///
    /// # Errors
    /// `TooLarge` for more than a segment; `NoSpace`: the disk is full, later calls may succeed; `Offline`,
    /// `Io`.
    pub async fn reserve(&self, bytes: usize) -> Result<Reservation, StorageError> {
        self.reserve_until(bytes, None, Offset::ZERO).await
    }

    /// As [`Self::reserve`], for a batch at hand: a segment is rolled by the batch's own timestamp, as Kafka
    /// does, and before its offsets leave the segment's 31 bits.
    ///
    /// # Errors
    /// As [`Self::reserve`].
    pub async fn reserve_batch(&self, batch: &RecordBatch) -> Result<Reservation, StorageError> {
        let header = batch.header();
        let last =
            Offset(self.end_offset().0.max(header.base_offset)).plus(i64::from(header.last_offset_delta));
        let now_ms = match self.config().timestamps {
            TimestampSource::CreateTime => header.max_timestamp,
            TimestampSource::LogAppendTime => rt::unix_ms(),
        };
        self.reserve_until(batch.total_bytes(), Some(now_ms), last).await
    }

    async fn reserve_until(
        &self,
        bytes: usize,
        now_ms: Option<i64>,
        last: Offset,
    ) -> Result<Reservation, StorageError> {
        let log = &self.0;
        let segment_bytes = log.config().segment_bytes;
        if bytes as u64 > segment_bytes {
            return Err(StorageError::TooLarge { bytes: bytes as u64, segment_bytes });
        }
        // Of a directory that failed nobody writes what holds the memory.
        let permit =
            unless(log.dir.unplaced.take(bytes), &log.space_moved, || self.check_online().is_err()).await;
        let permit = permit.ok_or(StorageError::Offline)?;
        loop {
            self.check_online()?;
            let lack = log.lack(bytes as u64, &log.config(), now_ms, last);
            if let Lack::Nothing { low } = lack {
                let reservation = Reservation::new(log, bytes, permit);
                if low {
                    log.make_space(Lack::Space, 0);
                }
                return Ok(reservation);
            }
            let own = log.make_space(lack, bytes as u64);
            log.space_moved.notified().await;
            // Another's attempt may have failed where this one's need can still be met.
            let error = log.space_error.borrow().clone().filter(|_| own && !log.making_space.get());
            if let Some(error) = error {
                return Err(log.copy_of(&error));
            }
        }
    }
}

impl LogInner {
    fn lack(&self, bytes: u64, config: &LogConfig, now_ms: Option<i64>, last: Offset) -> Lack {
        let core = self.core.borrow();
        let wanted = self.reserved.get() + bytes;
        let build = &core.active.build;
        let full = || {
            build.is_full(wanted, config)
                || !build.holds(last.max(build.base))
                || self.roll_due.get()
                || now_ms.is_some_and(|now_ms| build.is_old(config, now_ms))
        };
        // A roll under way has priority: the new segment can't be full before its file is made.
        if core.closing.is_none() && build.bytes > 0 && full() {
            return Lack::Roll;
        }
        let left = core.active.preset_bytes.checked_sub(build.bytes + wanted);
        match left.filter(|_| core.active.file.is_some()) {
            None => Lack::Space,
            Some(left) => {
                let step = core.active.preset_bytes / 4;
                let whole = core.active.preset_bytes >= config.segment_bytes;
                let grown = core.active.preset_bytes > PRESET_BYTES_MIN;
                Lack::Nothing { low: grown && !whole && left < step && !self.making_space.get() }
            }
        }
    }

    /// Starts a task that finds space, unless one runs. True if it was started.
    pub(crate) fn make_space(self: &Rc<Self>, lack: Lack, bytes: u64) -> bool {
        if self.making_space.replace(true) {
            return false;
        }
        *self.space_error.borrow_mut() = None;
        let log = self.clone();
        self.dir.tasks.spawn(async move {
            let result = match lack {
                Lack::Roll => log.roll(bytes).await,
                _ => log.prepare(bytes).await,
            };
            *log.space_error.borrow_mut() = result.err().map(Rc::new);
            log.making_space.set(false);
            log.space_moved.notify_waiters();
        });
        true
    }

    /// The same error for each of several waiters.
    fn copy_of(&self, error: &StorageError) -> StorageError {
        match error {
            StorageError::NoSpace => StorageError::NoSpace,
            StorageError::Io { what, source } => {
                StorageError::Io { what: what.clone(), source: std::io::Error::from(source.kind()) }
            }
            _ => StorageError::Offline,
        }
    }
}
