//! The simulated side of the facade's free functions.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use super::current::{current, expect_current};
use super::task::Task;
use super::trace::Mark;

/// How many of a hundred yield points yield. The real ones go by elapsed time, which a replay couldn't repeat.
const YIELD_PERCENT: u64 = 20;

/// The node's monotonic clock, in nanoseconds.
pub(crate) fn now_ns() -> u64 {
    expect_current().world.now_ns()
}

/// The node's wall clock, in milliseconds since 1970.
pub(crate) fn unix_ms() -> i64 {
    let place = expect_current();
    place.world.unix_ms(place.node)
}

/// The next number of the nodes' random stream.
pub(crate) fn random_u64() -> u64 {
    let world = expect_current().world;
    let number = world.rng.app.u64();
    world.trace.note(Mark::Random, number, world.now_ns());
    number
}

/// The running task's shard.
pub(crate) fn shard() -> u16 {
    expect_current().shard
}

/// Spawns a task on the running task's node and shard.
pub(crate) fn spawn<F: Future + 'static>(future: F) -> Task<F::Output> {
    let place = expect_current();
    let world = place.world.clone();
    Task::spawn(&world, place, future)
}

/// Lets other tasks run, or not, by seed.
pub(crate) async fn yield_point() {
    if expect_current().world.rng.sched.percent(YIELD_PERCENT) {
        yield_now().await;
    }
}

/// Makes the task ready again and gives the others a turn.
pub(crate) fn yield_now() -> YieldNow {
    YieldNow(false)
}

/// See [`yield_now`].
pub(crate) struct YieldNow(bool);

impl Future for YieldNow {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if std::mem::replace(&mut self.0, true) {
            return Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}

/// True inside a simulated task.
pub(crate) fn is_simulated() -> bool {
    current().is_some()
}
