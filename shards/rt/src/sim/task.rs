//! The handle of a simulated task.

use std::cell::RefCell;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use super::exec::TaskId;
use super::world::World;

/// What the task and its handle share.
struct Join<T> {
    output: Option<T>,
    // The task's future is gone: finished, cancelled, or its node crashed.
    gone: bool,
    waker: Option<Waker>,
}

/// A spawned task. Awaiting it gives its output; dropping it cancels the task, whose future is then dropped when the
/// scheduler next picks it, not at once.
pub struct Task<T> {
    world: Rc<World>,
    id: TaskId,
    join: Rc<RefCell<Join<T>>>,
    detached: bool,
}

// Marks the join as gone however the future ends, after the future itself was dropped.
struct Gone<T>(Rc<RefCell<Join<T>>>);

impl<T> Drop for Gone<T> {
    fn drop(&mut self) {
        let waker = {
            let mut join = self.0.borrow_mut();
            join.gone = true;
            join.waker.take()
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

impl<T: 'static> Task<T> {
    /// Spawns `future` as a task of `(node, shard)`. On a node that is down the future is dropped unpolled.
    pub(crate) fn spawn<F>(world: &Rc<World>, place: super::current::Current, future: F) -> Task<T>
    where
        F: Future<Output = T> + 'static,
    {
        let join = Rc::new(RefCell::new(Join { output: None, gone: false, waker: None }));
        let gone = Gone(join.clone());
        let body = async move {
            // Dropped last: locals go in reverse order, so `gone` outlives the future.
            let gone = gone;
            let output = future.await;
            gone.0.borrow_mut().output = Some(output);
        };
        let id = world.spawn(place.node, place.incarnation, place.shard, Box::pin(body));
        Task { world: world.clone(), id, join, detached: false }
    }
}

impl<T> Task<T> {
    /// True once the output is there or never will be.
    pub fn is_finished(&self) -> bool {
        self.join.borrow().gone
    }

    /// Takes the output if the task has finished.
    pub(crate) fn try_take(&self) -> Option<T> {
        self.join.borrow_mut().output.take()
    }

    /// Cancels the task and waits until its future has been dropped. Returns the output if it finished first.
    pub async fn cancel(self) -> Option<T> {
        self.world.cancel_task(self.id);
        std::future::poll_fn(|cx| {
            let mut join = self.join.borrow_mut();
            if join.gone {
                return Poll::Ready(join.output.take());
            }
            join.waker = Some(cx.waker().clone());
            Poll::Pending
        })
        .await
    }

    /// Lets the task run on without a handle.
    pub fn detach(mut self) {
        self.detached = true;
    }
}

impl<T> Future for Task<T> {
    type Output = T;

    /// Pending for ever once the task was lost with its node: only a task of the same node can hold the handle, and
    /// that is lost too.
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<T> {
        let mut join = self.join.borrow_mut();
        match join.output.take() {
            Some(output) => Poll::Ready(output),
            None => {
                join.waker = Some(cx.waker().clone());
                Poll::Pending
            }
        }
    }
}

impl<T> Drop for Task<T> {
    fn drop(&mut self) {
        if !self.detached && !self.join.borrow().gone {
            self.world.cancel_task(self.id);
        }
    }
}

impl<T> std::fmt::Debug for Task<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Task").field("id", &self.id).field("finished", &self.is_finished()).finish()
    }
}
