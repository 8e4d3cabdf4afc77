//! Tasks of a shard.

use std::cell::Cell;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use super::bomb::Bomb;
use super::current::{self, Shard};
use super::ring;

/// A spawned task. Either engine cancels it when this is dropped.
pub(crate) struct Task<T> {
    inner: Inner<T>,
    gone: Rc<Cell<bool>>,
}

enum Inner<T> {
    Glommio(glommio::Task<T>),
    Ring(async_task::Task<T>),
}

/// Spawns on this thread's shard. On glommio it takes a lock of the process (42 ns on one shard, microseconds on many).
pub(crate) fn spawn<F: Future + 'static>(future: F) -> Task<F::Output> {
    let gone = Rc::new(Cell::new(false));
    let shard = current::expect("rt::spawn");
    let is_ring = shard.ring.is_some();
    let body = Body { future: Box::pin(future), _gone: Gone(gone.clone()), shard };
    let inner =
        if is_ring { Inner::Ring(ring::spawn(body)) } else { Inner::Glommio(glommio::spawn_local(body)) };
    Task { inner, gone }
}

impl<T> Task<T> {
    pub(crate) fn is_finished(&self) -> bool {
        self.gone.get()
    }

    pub(crate) async fn cancel(self) -> Option<T> {
        match self.inner {
            Inner::Glommio(task) => task.cancel().await,
            Inner::Ring(task) => task.cancel().await,
        }
    }
}

impl<T> Future for Task<T> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<T> {
        match &mut self.inner {
            Inner::Glommio(task) => Pin::new(task).poll(cx),
            Inner::Ring(task) => Pin::new(task).poll(cx),
        }
    }
}

struct Gone(Rc<Cell<bool>>);

impl Drop for Gone {
    fn drop(&mut self) {
        self.0.set(true);
    }
}

/// What the engine polls: the future, with the shard's account of running time around it.
pub(crate) struct Body<F> {
    future: Pin<Box<F>>,
    shard: Rc<Shard>,
    // After the future: fields drop in order, and the task is gone when its future is.
    _gone: Gone,
}

impl<F: Future> Body<F> {
    /// The shard's main future, which no handle watches.
    pub(crate) fn main(future: F, shard: Rc<Shard>) -> Body<F> {
        Body { future: Box::pin(future), shard, _gone: Gone(Rc::default()) }
    }
}

impl<F: Future> Future for Body<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let bomb = Bomb("a task");
        self.shard.turns.poll_began();
        let polled = self.future.as_mut().poll(cx);
        self.shard.turns.poll_ended();
        drop(bomb);
        polled
    }
}
