//! Waiting for one thing unless another makes it pointless.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;

use rt::sync::Notify;

/// What `future` gives; `None` once `is_pointless`, which is asked before and whenever `moved` wakes.
pub(crate) async fn unless<F: Future>(
    future: F,
    moved: &Notify,
    is_pointless: impl Fn() -> bool,
) -> Option<F::Output> {
    let mut future = pin!(future);
    loop {
        let mut notified = pin!(moved.notified());
        if is_pointless() {
            return None;
        }
        let output = poll_fn(|cx| match future.as_mut().poll(cx) {
            Poll::Ready(output) => Poll::Ready(Some(output)),
            Poll::Pending => notified.as_mut().poll(cx).map(|()| None),
        });
        if let Some(output) = output.await {
            return Some(output);
        }
    }
}
