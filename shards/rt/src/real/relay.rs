//! One waker between a task and an operation of glommio's.
//!
//! glommio's sources collect one more waker at each poll. A task polled for other reasons while its read is
//! in flight would leave a waker behind each time, and glommio's 16-bit task counter panics at 32,767 of
//! them. So the operation sees one waker of ours for its whole life, and is polled again only when that one
//! was woken.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use atomic_waker::AtomicWaker;

struct Link {
    woken: AtomicBool,
    task: AtomicWaker,
}

impl Wake for Link {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.woken.store(true, Ordering::Release);
        self.task.wake();
    }
}

/// A future that leaves one waker with what it waits for.
pub(crate) struct Relay<F> {
    link: Arc<Link>,
    waker: Waker,
    future: Pin<Box<F>>,
}

/// See the module.
pub(crate) fn relay<F: Future>(future: F) -> Relay<F> {
    let link = Arc::new(Link { woken: AtomicBool::new(true), task: AtomicWaker::new() });
    let waker = Waker::from(link.clone());
    Relay { link, waker, future: Box::pin(future) }
}

impl<F: Future> Future for Relay<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        // Registered before the flag is read: a wake between the two is then seen here or wakes the task.
        self.link.task.register(cx.waker());
        if !self.link.woken.swap(false, Ordering::AcqRel) {
            return Poll::Pending;
        }
        let this = &mut *self;
        this.future.as_mut().poll(&mut Context::from_waker(&this.waker))
    }
}
