//! [`Cancel`]: the way to end a piece that its owner is at.

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::pin::pin;
use std::task::{Poll, Waker};

/// Whether a piece was cancelled, and who is to be told.
#[derive(Debug, Default)]
pub(super) struct Cancel {
    is_cancelled: Cell<bool>,
    waker: RefCell<Option<Waker>>,
}

impl Cancel {
    /// Ends the piece when it is next polled, which is soon.
    pub(super) fn cancel(&self) {
        self.is_cancelled.set(true);
        let waker = self.waker.take();
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// Runs `future` to its end, or drops it: `None`.
    pub(super) async fn or<F: Future>(&self, future: F) -> Option<F::Output> {
        let mut future = pin!(future);
        poll_fn(|cx| {
            if self.is_cancelled.get() {
                return Poll::Ready(None);
            }
            self.waker.replace(Some(cx.waker().clone()));
            future.as_mut().poll(cx).map(Some)
        })
        .await
    }
}
