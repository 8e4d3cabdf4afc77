//! Sleeping in virtual time.

use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use super::current::expect_current;
use super::event::{Event, EventKey};
use super::world::World;

/// Waits until virtual time has reached a deadline. Costs one queue entry; dropping it takes the entry back.
pub(crate) struct Sleep {
    deadline_ns: u64,
    queued: Option<(Rc<World>, EventKey, Waker)>,
}

/// A sleep until `deadline_ns` of the running task's virtual clock.
pub(crate) fn sleep_until(deadline_ns: u64) -> Sleep {
    Sleep { deadline_ns, queued: None }
}

impl Future for Sleep {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if let Some((world, _, waker)) = &self.queued {
            if world.now_ns() >= self.deadline_ns {
                self.queued = None;
                return Poll::Ready(());
            }
            if waker.will_wake(cx.waker()) {
                return Poll::Pending;
            }
            self.take_back();
        }
        let world = expect_current().world;
        if world.now_ns() >= self.deadline_ns {
            return Poll::Ready(());
        }
        let key = world.push_event(self.deadline_ns, Event::Wake(cx.waker().clone()));
        self.queued = Some((world, key, cx.waker().clone()));
        Poll::Pending
    }
}

impl Sleep {
    fn take_back(&mut self) {
        if let Some((world, key, _)) = self.queued.take() {
            world.remove_event(key);
        }
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        self.take_back();
    }
}
