//! A coordinator's log in memory, with faults to order.

use std::cell::RefCell;
use std::future::{Future, poll_fn};
use std::rc::Rc;
use std::task::{Poll, Waker};

use bytes::{Bytes, BytesMut};
use protocol::error::ErrorCode;
use protocol::records::{RecordBatch, patch_offset_and_epoch};

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
    wakers: Vec<Waker>,
}

impl MemoryLog {
    /// Appends stay uncommitted until [`MemoryLog::commit`].
    pub(crate) fn hold_commits(&self, hold: bool) {
        self.inner.borrow_mut().holds_commits = hold;
    }

    /// Commits all that was appended.
    pub(crate) fn commit(&self) {
        let mut inner = self.inner.borrow_mut();
        inner.committed_offset = inner.end_offset;
        inner.wake();
    }

    /// Appends are refused from now on, or no more.
    pub(crate) fn refuse(&self, code: Option<ErrorCode>) {
        self.inner.borrow_mut().refuses = code;
    }

    /// The leadership is lost.
    pub(crate) fn lose(&self) {
        let mut inner = self.inner.borrow_mut();
        inner.is_lost = true;
        inner.wake();
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

impl Inner {
    fn wake(&mut self) {
        self.wakers.drain(..).for_each(Waker::wake);
    }
}

impl CoordinatorLog for MemoryLog {
    fn append(&self, batch: Bytes, _now_unix_ms: i64) -> Result<i64, LogError> {
        let mut inner = self.inner.borrow_mut();
        if inner.is_lost {
            return Err(LogError::Lost);
        }
        if let Some(code) = inner.refuses {
            return Err(LogError::Refused(code));
        }
        let mut bytes = BytesMut::from(&batch[..]);
        patch_offset_and_epoch(&mut bytes, inner.end_offset, 0);
        let batch = RecordBatch::parse(bytes.freeze()).unwrap();
        inner.end_offset = batch.header().last_offset() + 1;
        inner.batches.push(batch.into_bytes());
        if !inner.holds_commits {
            inner.committed_offset = inner.end_offset;
            inner.wake();
        }
        Ok(inner.end_offset)
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
        let inner = self.inner.borrow();
        if inner.is_lost {
            return Err(LogError::Lost);
        }
        let holds =
            |bytes: &&Bytes| RecordBatch::parse((*bytes).clone()).unwrap().header().last_offset() >= from;
        Ok(inner.batches.iter().find(holds).cloned().into_iter().collect())
    }
}
