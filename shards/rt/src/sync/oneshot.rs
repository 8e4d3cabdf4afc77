//! One value from one task of a shard to another.

use std::cell::RefCell;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

#[derive(Debug)]
struct Slot<T> {
    value: Option<T>,
    sender_gone: bool,
    receiver_gone: bool,
    waker: Option<Waker>,
}

/// Sends the value; dropping it unsent ends the receiver with `None`.
#[derive(Debug)]
pub struct Sender<T>(Rc<RefCell<Slot<T>>>);

/// A future of the value, `None` if the sender went without sending.
#[derive(Debug)]
pub struct Receiver<T>(Rc<RefCell<Slot<T>>>);

/// A fresh pair.
pub fn channel<T>() -> (Sender<T>, Receiver<T>) {
    let slot = Slot { value: None, sender_gone: false, receiver_gone: false, waker: None };
    let slot = Rc::new(RefCell::new(slot));
    (Sender(slot.clone()), Receiver(slot))
}

impl<T> Sender<T> {
    /// Hands the value over.
    ///
    /// # Errors
    /// The value, if the receiver is gone.
    pub fn send(self, value: T) -> Result<(), T> {
        let mut slot = self.0.borrow_mut();
        if slot.receiver_gone {
            return Err(value);
        }
        slot.value = Some(value);
        Ok(())
    }

    /// True once nobody waits for the value any more.
    pub fn is_closed(&self) -> bool {
        self.0.borrow().receiver_gone
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        let waker = {
            let mut slot = self.0.borrow_mut();
            slot.sender_gone = true;
            slot.waker.take()
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

impl<T> Receiver<T> {
    /// Waits for the value; `None` if the sender went without sending.
    pub async fn recv(self) -> Option<T> {
        self.await
    }
}

impl<T> Future for Receiver<T> {
    type Output = Option<T>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<T>> {
        let mut slot = self.0.borrow_mut();
        if let Some(value) = slot.value.take() {
            return Poll::Ready(Some(value));
        }
        if slot.sender_gone {
            return Poll::Ready(None);
        }
        slot.waker = Some(cx.waker().clone());
        Poll::Pending
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        let value = {
            let mut slot = self.0.borrow_mut();
            slot.receiver_gone = true;
            slot.value.take()
        };
        drop(value);
    }
}
