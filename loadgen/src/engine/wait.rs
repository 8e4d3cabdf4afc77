//! Waiting for whichever comes first.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

/// The longest wait: orders of the conductor are looked at in between.
const WAIT_MAX: Duration = Duration::from_millis(100);

/// Waits for `woken`, for the moment `at_ns`, or a tenth of a second.
pub(crate) async fn wait(woken: impl Future<Output = ()>, at_ns: Option<u64>) {
    let now = rt::now();
    let wait =
        at_ns.map_or(WAIT_MAX, |at| Duration::from_nanos(at.saturating_sub(now.as_nanos())).min(WAIT_MAX));
    let (mut woken, mut sleep) = (pin!(woken), pin!(rt::sleep_until(now + wait)));
    poll_fn(|cx| match woken.as_mut().poll(cx) {
        Poll::Ready(()) => Poll::Ready(()),
        Poll::Pending => sleep.as_mut().poll(cx),
    })
    .await;
}
