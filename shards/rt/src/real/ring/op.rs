//! [`Op`]: one operation of the ring, as a future.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use io_uring::squeue::Entry;

use super::reactor::Reactor;

/// What becomes of an operation whose future is dropped.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum IfDropped {
    /// It goes on: a write isn't taken back half-way.
    Finish,
    /// It is cancelled, as far as it has not happened yet.
    Cancel,
    /// It goes on, and the descriptor that it makes is closed.
    CloseResult,
}

/// An operation under way. It owns what the kernel may touch, and gives it back with the result; if it is dropped before,
/// the reactor keeps that until the kernel is done.
pub(super) struct Op<K: Unpin + 'static> {
    reactor: Rc<Reactor>,
    key: usize,
    // `None` once handed back.
    kept: Option<K>,
    if_dropped: IfDropped,
}

impl<K: Unpin + 'static> Op<K> {
    /// Begins the operation that `entry` describes. It leaves with the shard's next turn.
    ///
    /// What `entry` points to has to be owned by `kept`, at an address that doesn't change when `kept` is moved: a box, a vector, a
    /// descriptor.
    pub(super) fn begin(
        reactor: &Rc<Reactor>,
        mut kept: K,
        if_dropped: IfDropped,
        entry: impl FnOnce(&mut K) -> Entry,
    ) -> Op<K> {
        let key = reactor.submit(entry(&mut kept));
        Op { reactor: Rc::clone(reactor), key, kept: Some(kept), if_dropped }
    }
}

impl<K: Unpin + 'static> Future for Op<K> {
    type Output = (io::Result<usize>, K);

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        assert!(self.kept.is_some(), "polled after it was ready");
        let result = match self.reactor.poll(self.key, cx.waker()) {
            Poll::Ready(result) => result,
            Poll::Pending => return Poll::Pending,
        };
        let kept = self.kept.take().expect("just seen");
        // The system's answer: a count, or a negated error number.
        let result = usize::try_from(result).map_err(|_| io::Error::from_raw_os_error(-result));
        Poll::Ready((result, kept))
    }
}

impl<K: Unpin + 'static> Drop for Op<K> {
    fn drop(&mut self) {
        if let Some(kept) = self.kept.take() {
            self.reactor.abandon(self.key, Box::new(kept), self.if_dropped);
        }
    }
}
