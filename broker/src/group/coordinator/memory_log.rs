//! A coordinator's log in memory, with faults to order.

use std::cell::RefCell;
use std::future::{Future, poll_fn};
use std::rc::Rc;
use std::task::{Poll, Waker};

use bytes::{Bytes, BytesMut};
use protocol::error::ErrorCode;
use protocol::records::{BatchHeader, RecordBatch, patch_offset_and_epoch};

use super::{CommitWait, CoordinatorLog, LogError};

/// Cloning shares it.
#[derive(Debug, Clone, Default)]
pub(crate) struct MemoryLog {
    inner: Rc<RefCell<Inner>>,
}

#[derive(Debug, Default)]
struct Inner {
    batches: Vec<Bytes>,
    end_offset: i64,
    committed_offset: i64,
    holds_commits: bool,
    refuses: Option<ErrorCode>,
    is_lost: bool,
    holds_reads: bool,
    reads: usize,
    /// Appends of more bytes than this find no room, unless they bring some.
    room_bytes: Option<usize>,
    wakers: Vec<Waker>,
}

impl MemoryLog {
    /// Appends stay uncommitted until [`MemoryLog::commit`].
    pub(crate) fn hold_commits(&self, hold: bool) {
        self.inner.borrow_mut().holds_commits = hold;
    }

    /// Commits all that was appended.
    pub(crate) fn commit(&self) {
        let wakers = {
            let mut inner = self.inner.borrow_mut();
            inner.committed_offset = inner.end_offset;
            std::mem::take(&mut inner.wakers)
        };
        wakers.into_iter().for_each(Waker::wake);
    }

    /// Appends are refused from now on, or no more.
    pub(crate) fn refuse(&self, code: Option<ErrorCode>) {
        self.inner.borrow_mut().refuses = code;
    }

    /// Appends of more than so many bytes must wait for room from now on.
    pub(crate) fn limit_room(&self, bytes: usize) {
        self.inner.borrow_mut().room_bytes = Some(bytes);
    }

    /// A read is answered only when it is polled again.
    pub(crate) fn hold_reads(&self) {
        self.inner.borrow_mut().holds_reads = true;
    }

    /// How often it was read.
    pub(crate) fn reads(&self) -> usize {
        self.inner.borrow().reads
    }

    /// Flips a bit of batch `index`, `at` bytes from its start.
    pub(crate) fn damage(&self, index: usize, at: usize) {
        let batch = &mut self.inner.borrow_mut().batches[index];
        let mut bytes = batch.to_vec();
        bytes[at] ^= 1;
        *batch = bytes.into();
    }

    /// The leadership is lost.
    pub(crate) fn lose(&self) {
        let wakers = {
            let mut inner = self.inner.borrow_mut();
            inner.is_lost = true;
            std::mem::take(&mut inner.wakers)
        };
        wakers.into_iter().for_each(Waker::wake);
    }

    /// The same records under a new leadership.
    pub(crate) fn next_leadership(&self) -> Self {
        let inner = self.inner.borrow();
        let batches = inner.batches.clone();
        let (end_offset, committed_offset) = (inner.end_offset, inner.end_offset);
        Self {
            inner: Rc::new(RefCell::new(Inner { batches, end_offset, committed_offset, ..Inner::default() })),
        }
    }

    /// All records, key and value, in order.
    pub(crate) fn records(&self) -> Vec<(Bytes, Option<Bytes>)> {
        let batches = self.inner.borrow().batches.clone();
        let batches = batches.into_iter().map(|bytes| RecordBatch::parse(bytes).unwrap());
        let records = batches.flat_map(|batch| batch.records());
        records.map(|record| record.map(|record| (record.key.unwrap(), record.value)).unwrap()).collect()
    }
}

impl CoordinatorLog for MemoryLog {
    type Room = usize;

    fn append(&self, batch: Bytes, _now_unix_ms: i64, room: Option<usize>) -> Result<i64, LogError> {
        let mut inner = self.inner.borrow_mut();
        if inner.is_lost {
            return Err(LogError::Lost);
        }
        if let Some(code) = inner.refuses {
            return Err(LogError::Refused(code));
        }
        let fits = |room: usize| batch.len() <= room;
        if inner.room_bytes.is_some_and(|room| !fits(room)) && !room.is_some_and(fits) {
            return Err(LogError::NoRoom { bytes: batch.len() });
        }
        let mut bytes = BytesMut::from(&batch[..]);
        patch_offset_and_epoch(&mut bytes, inner.end_offset, 0);
        let batch = RecordBatch::parse(bytes.freeze()).unwrap();
        inner.end_offset = batch.header().last_offset() + 1;
        inner.batches.push(batch.into_bytes());
        if !inner.holds_commits {
            inner.committed_offset = inner.end_offset;
            inner.wakers.drain(..).for_each(Waker::wake);
        }
        Ok(inner.end_offset)
    }

    /// Ready when it is polled again, and lost with the log.
    fn room(&self, bytes: usize) -> impl Future<Output = Result<usize, LogError>> {
        let mut polled = false;
        poll_fn(move |cx| {
            if self.inner.borrow().is_lost {
                return Poll::Ready(Err(LogError::Lost));
            }
            if std::mem::replace(&mut polled, true) {
                return Poll::Ready(Ok(bytes));
            }
            cx.waker().wake_by_ref();
            Poll::Pending
        })
    }

    fn start_offset(&self) -> i64 {
        0
    }

    fn end_offset(&self) -> i64 {
        self.inner.borrow().end_offset
    }

    fn committed_offset(&self) -> i64 {
        self.inner.borrow().committed_offset
    }

    fn committed_past(&self, offset: i64) -> impl Future<Output = CommitWait> {
        poll_fn(move |cx| {
            let mut inner = self.inner.borrow_mut();
            if inner.is_lost {
                return Poll::Ready(CommitWait::Lost);
            }
            if inner.committed_offset > offset {
                return Poll::Ready(CommitWait::Passed);
            }
            inner.wakers.push(cx.waker().clone());
            Poll::Pending
        })
    }

    /// One batch at a time, so that loading takes several rounds.
    async fn read(&self, from: i64, _bytes_max: usize) -> Result<Vec<Bytes>, LogError> {
        self.inner.borrow_mut().reads += 1;
        let mut held = self.inner.borrow().holds_reads;
        poll_fn(|_| if std::mem::take(&mut held) { Poll::Pending } else { Poll::Ready(()) }).await;
        let inner = self.inner.borrow();
        if inner.is_lost {
            return Err(LogError::Lost);
        }
        // One whose header is damaged is found by what comes before it, as a log's index does.
        let holds =
            |bytes: &&Bytes| BatchHeader::parse(bytes).map_or(true, |header| header.last_offset() >= from);
        Ok(inner.batches.iter().find(holds).cloned().into_iter().collect())
    }
}
