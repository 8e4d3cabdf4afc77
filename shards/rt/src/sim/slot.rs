//! A result that an event will fill in later: what the future of a simulated I/O operation waits on.

use std::cell::RefCell;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

struct State<T> {
    value: Option<T>,
    waker: Option<Waker>,
}

/// The filling side; kept by the operation in flight. Dropping it unfilled leaves the future pending for ever, as the
/// completion of a crashed node's I/O never comes.
pub(crate) struct Slot<T>(Rc<RefCell<State<T>>>);

/// The waiting side. Dropping it does not stop the operation, as it doesn't in a kernel.
pub(crate) struct Filled<T>(Rc<RefCell<State<T>>>);

/// A connected pair.
pub(crate) fn slot<T>() -> (Slot<T>, Filled<T>) {
    let state = Rc::new(RefCell::new(State { value: None, waker: None }));
    (Slot(state.clone()), Filled(state))
}

impl<T> Slot<T> {
    /// Hands the value over and wakes the waiting task. Returns the value when nobody waits any more.
    pub(crate) fn fill(self, value: T) -> Result<(), T> {
        if Rc::strong_count(&self.0) == 1 {
            return Err(value);
        }
        let waker = {
            let mut state = self.0.borrow_mut();
            state.value = Some(value);
            state.waker.take()
        };
        if let Some(waker) = waker {
            waker.wake();
        }
        Ok(())
    }
}

impl<T> Filled<T> {
    /// The value, if the operation is over.
    pub(crate) fn take(&self) -> Option<T> {
        self.0.borrow_mut().value.take()
    }
}

impl<T> Future for Filled<T> {
    type Output = T;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<T> {
        let mut state = self.0.borrow_mut();
        match state.value.take() {
            Some(value) => Poll::Ready(value),
            None => {
                state.waker = Some(cx.waker().clone());
                Poll::Pending
            }
        }
    }
}
