//! Lanes: bounded one-way queues between two shards.
//!
//! One producer, one consumer, each owned once. A full lane is the sender's to wait for or to count as
//! back-pressure; nothing here blocks a thread. Cost of one item while both ends run: two uncontended atomics
//! and a copy.

use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Context, Poll};

use atomic_waker::AtomicWaker;
use rtrb::{Consumer, Producer, PushError, RingBuffer};

#[derive(Debug, Default)]
struct Wakers {
    receiver: AtomicWaker,
    sender: AtomicWaker,
}

/// The sending end. Dropping it ends the lane once its items are received.
#[derive(Debug)]
pub struct Sender<T> {
    // `None` only while being dropped: the ring's end goes first, then the other side is woken to see it.
    ring: Option<Producer<T>>,
    wakers: Arc<Wakers>,
}

/// The receiving end. Dropping it closes the lane; items in it are dropped.
#[derive(Debug)]
pub struct Receiver<T> {
    ring: Option<Consumer<T>>,
    wakers: Arc<Wakers>,
}

/// There was no room, or nobody receives any more; here is the item.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("the lane is full")]
pub struct Full<T>(pub T);

/// Nobody receives any more; here is the item.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("the lane is closed")]
pub struct Closed<T>(pub T);

/// A lane with room for `capacity` items.
pub fn channel<T: Send>(capacity: usize) -> (Sender<T>, Receiver<T>) {
    let (producer, consumer) = RingBuffer::new(capacity);
    let wakers = Arc::new(Wakers::default());
    (Sender { ring: Some(producer), wakers: wakers.clone() }, Receiver { ring: Some(consumer), wakers })
}

impl<T: Send> Sender<T> {
    fn ring(&mut self) -> &mut Producer<T> {
        self.ring.as_mut().expect("only a drop takes it")
    }

    /// Sends without waiting.
    ///
    /// # Errors
    /// [`Full`]; a closed lane answers it too, [`Sender::is_closed`] tells.
    pub fn try_send(&mut self, item: T) -> Result<(), Full<T>> {
        if self.is_closed() {
            return Err(Full(item));
        }
        match self.ring().push(item) {
            Ok(()) => {
                self.wakers.receiver.wake();
                Ok(())
            }
            Err(PushError::Full(item)) => Err(Full(item)),
        }
    }

    /// Sends, waiting for room. A dropped future has sent nothing.
    ///
    /// # Errors
    /// [`Closed`].
    pub async fn send(&mut self, item: T) -> Result<(), Closed<T>> {
        let mut item = Some(item);
        poll_fn(|cx| self.poll_send(&mut item, cx)).await
    }

    fn poll_send(&mut self, item: &mut Option<T>, cx: &mut Context<'_>) -> Poll<Result<(), Closed<T>>> {
        // Twice: room made between the first try and the registration wakes nobody.
        for last in [false, true] {
            let Some(next) = item.take() else { return Poll::Ready(Ok(())) };
            match self.try_send(next) {
                Ok(()) => return Poll::Ready(Ok(())),
                Err(Full(next)) if self.is_closed() => return Poll::Ready(Err(Closed(next))),
                Err(Full(next)) => *item = Some(next),
            }
            if !last {
                self.wakers.sender.register(cx.waker());
            }
        }
        Poll::Pending
    }

    /// How many items surely fit now.
    pub fn free_slots(&self) -> usize {
        self.ring.as_ref().map_or(0, Producer::slots)
    }

    /// True once the receiver is gone.
    pub fn is_closed(&self) -> bool {
        self.ring.as_ref().is_none_or(Producer::is_abandoned)
    }

    /// Waits until the receiver is gone: nobody wants what is being made for it.
    pub async fn closed(&mut self) {
        poll_fn(|cx| {
            self.wakers.sender.register(cx.waker());
            // Asked after the registration: a receiver that goes between the two would wake nobody.
            if self.is_closed() { Poll::Ready(()) } else { Poll::Pending }
        })
        .await;
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        drop(self.ring.take());
        self.wakers.receiver.wake();
    }
}

impl<T: Send> Receiver<T> {
    fn ring(&mut self) -> &mut Consumer<T> {
        self.ring.as_mut().expect("only a drop takes it")
    }

    /// The next item if there is one.
    pub fn try_recv(&mut self) -> Option<T> {
        let item = self.ring().pop().ok()?;
        self.wakers.sender.wake();
        Some(item)
    }

    /// The next item; `None` once the sender is gone and all is received. A dropped future has received
    /// nothing.
    pub async fn recv(&mut self) -> Option<T> {
        poll_fn(|cx| self.poll_recv(cx)).await
    }

    /// As [`Receiver::recv`], for a task that waits on several things.
    pub fn poll_recv(&mut self, cx: &mut Context<'_>) -> Poll<Option<T>> {
        if let Some(item) = self.try_recv() {
            return Poll::Ready(Some(item));
        }
        self.wakers.receiver.register(cx.waker());
        // Asked before the ring is: what was pushed before the sender went is still received.
        let ended = self.is_closed();
        match self.try_recv() {
            Some(item) => Poll::Ready(Some(item)),
            None if ended => Poll::Ready(None),
            None => Poll::Pending,
        }
    }

    /// True once the sender is gone; items may be left.
    pub fn is_closed(&self) -> bool {
        self.ring.as_ref().is_none_or(Consumer::is_abandoned)
    }

    /// How many items are there now.
    pub fn len(&self) -> usize {
        self.ring.as_ref().map_or(0, Consumer::slots)
    }

    /// True if there is nothing to receive now.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        drop(self.ring.take());
        self.wakers.sender.wake();
    }
}
