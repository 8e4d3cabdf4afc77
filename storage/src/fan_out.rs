//! Several operations at once within one task: no spawn, bounded.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

/// Runs what `make` makes of each item, at most `width` at a time, and gives the results in the items' order.
///
/// A wake-up polls all that run, at most `width`: meant for tens of I/O operations, not for thousands.
pub(crate) async fn fan_out<T, F: Future>(
    items: Vec<T>,
    width: usize,
    make: impl FnMut(T) -> F,
) -> Vec<F::Output> {
    let count = items.len();
    let mut results = Vec::with_capacity(count);
    results.resize_with(count, || None);
    FanOut { waiting: items.into_iter().enumerate(), make, width: width.max(1), running: Vec::new(), results }
        .await
}

struct FanOut<T, F: Future, M> {
    waiting: std::iter::Enumerate<std::vec::IntoIter<T>>,
    make: M,
    width: usize,
    running: Vec<(usize, Pin<Box<F>>)>,
    results: Vec<Option<F::Output>>,
}

impl<T, F: Future, M> Unpin for FanOut<T, F, M> {}

impl<T, F: Future, M: FnMut(T) -> F> Future for FanOut<T, F, M> {
    type Output = Vec<F::Output>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.get_mut();
        loop {
            while this.running.len() < this.width {
                let Some((at, item)) = this.waiting.next() else { break };
                this.running.push((at, Box::pin((this.make)(item))));
            }
            let before = this.running.len();
            let results = &mut this.results;
            this.running.retain_mut(|(at, future)| match future.as_mut().poll(cx) {
                Poll::Ready(output) => {
                    results[*at] = Some(output);
                    false
                }
                Poll::Pending => true,
            });
            if this.running.is_empty() && this.waiting.len() == 0 {
                return Poll::Ready(std::mem::take(results).into_iter().flatten().collect());
            }
            if this.running.len() == before {
                return Poll::Pending;
            }
        }
    }
}

#[cfg(test)]
mod tests;
