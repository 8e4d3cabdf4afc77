//! Tasks of a shard.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

/// A spawned task. Awaiting it gives its output; dropping it cancels the task.
pub struct Task<T>(Inner<T>);

enum Inner<T> {
    Real(crate::real::task::Task<T>),
    #[cfg(feature = "sim")]
    Sim(crate::sim::Task<T>),
}

/// Spawns a task on the running task's shard.
///
/// # Panics
/// Outside of a shard.
pub fn spawn<F: Future + 'static>(future: F) -> Task<F::Output> {
    #[cfg(feature = "sim")]
    if crate::sim::facade::is_simulated() {
        return Task(Inner::Sim(crate::sim::facade::spawn(future)));
    }
    Task(Inner::Real(crate::real::task::spawn(future)))
}

impl<T> Task<T> {
    /// True once the output is there or never will be.
    pub fn is_finished(&self) -> bool {
        match &self.0 {
            Inner::Real(task) => task.is_finished(),
            #[cfg(feature = "sim")]
            Inner::Sim(task) => task.is_finished(),
        }
    }

    /// Cancels the task and waits until its future has been dropped. Returns the output if it finished first.
    pub async fn cancel(self) -> Option<T> {
        match self.0 {
            Inner::Real(task) => task.cancel().await,
            #[cfg(feature = "sim")]
            Inner::Sim(task) => task.cancel().await,
        }
    }
}

impl<T> Future for Task<T> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<T> {
        match &mut self.0 {
            Inner::Real(task) => Pin::new(task).poll(cx),
            #[cfg(feature = "sim")]
            Inner::Sim(task) => Pin::new(task).poll(cx),
        }
    }
}

impl<T> std::fmt::Debug for Task<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Task").field("finished", &self.is_finished()).finish_non_exhaustive()
    }
}
