//! An edge-triggered signal.

use std::cell::RefCell;
use std::future::Future;
use std::mem;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

/// Wakes everyone who waits; keeps nothing for those who come later.
///
/// A waiter has one waker here, replaced when it is polled again: a glommio task counts its wakers in 16
/// bits, so a task may wait on many signals, but may not leave wakers behind.
#[derive(Debug, Default)]
pub struct Notify {
    waiters: RefCell<Waiters>,
}

#[derive(Debug, Default)]
struct Waiters {
    /// How often waiters were notified. A slot belongs to the generation it was taken in.
    generation: u64,
    slots: Vec<Option<Waker>>,
    free: Vec<usize>,
}

impl Notify {
    /// A signal nobody waits for.
    pub fn new() -> Notify {
        Notify::default()
    }

    /// Wakes all who called [`Notify::notified`] before.
    pub fn notify_waiters(&self) {
        let wakers = {
            let mut waiters = self.waiters.borrow_mut();
            waiters.generation += 1;
            waiters.free.clear();
            mem::take(&mut waiters.slots)
        };
        // The borrow is over: a waker may run anything.
        for waker in wakers.into_iter().flatten() {
            waker.wake();
        }
    }

    /// Ready once [`Notify::notify_waiters`] was called after this call: nothing is lost between a check made
    /// after it and the await.
    pub fn notified(&self) -> Notified<'_> {
        Notified { notify: self, generation: self.waiters.borrow().generation, slot: None }
    }

    /// How many wait, for metrics and tests.
    pub fn waiters(&self) -> usize {
        let waiters = self.waiters.borrow();
        waiters.slots.len() - waiters.free.len()
    }
}

/// See [`Notify::notified`].
#[derive(Debug)]
#[must_use = "nothing waits until it is awaited"]
pub struct Notified<'a> {
    notify: &'a Notify,
    generation: u64,
    slot: Option<usize>,
}

impl Future for Notified<'_> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let mut waiters = self.notify.waiters.borrow_mut();
        if waiters.generation != self.generation {
            return Poll::Ready(());
        }
        let waiters = &mut *waiters;
        let slot = self.slot.or_else(|| waiters.free.pop()).unwrap_or_else(|| {
            waiters.slots.push(None);
            waiters.slots.len() - 1
        });
        match &mut waiters.slots[slot] {
            Some(waker) => waker.clone_from(cx.waker()),
            empty => *empty = Some(cx.waker().clone()),
        }
        self.slot = Some(slot);
        Poll::Pending
    }
}

impl Drop for Notified<'_> {
    fn drop(&mut self) {
        let Some(slot) = self.slot else { return };
        let waker = {
            let mut waiters = self.notify.waiters.borrow_mut();
            if waiters.generation != self.generation {
                return;
            }
            waiters.free.push(slot);
            waiters.slots[slot].take()
        };
        drop(waker);
    }
}
