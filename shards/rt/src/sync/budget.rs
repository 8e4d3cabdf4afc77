//! A budget of bytes, or of anything else that is counted.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

/// A shared budget. Clones are handles to the same one.
///
/// First come, first served: a large request is not passed by small ones. A request above the whole capacity
/// is admitted when nothing else is out, so that it is slow instead of stuck.
#[derive(Clone, Debug)]
pub struct Budget(Rc<Inner>);

#[derive(Debug)]
struct Inner {
    capacity: usize,
    used: Cell<usize>,
    queue: RefCell<VecDeque<Rc<Waiter>>>,
}

#[derive(Debug)]
struct Waiter {
    amount: usize,
    granted: Cell<bool>,
    waker: RefCell<Option<Waker>>,
}

impl Budget {
    /// A budget of `capacity` units, all free.
    pub fn new(capacity: usize) -> Budget {
        Budget(Rc::new(Inner { capacity, used: Cell::new(0), queue: RefCell::default() }))
    }

    /// Takes `amount` if it fits and nobody waits.
    pub fn try_take(&self, amount: usize) -> Option<Permit> {
        if !self.0.queue.borrow().is_empty() || !self.0.fits(amount) {
            return None;
        }
        Some(self.0.grant(amount))
    }

    /// Takes `amount` now, beyond the capacity if need be: for what is there already and can only be counted.
    pub fn charge(&self, amount: usize) -> Permit {
        self.0.grant(amount)
    }

    /// Takes `amount`, waiting behind those who came earlier. Dropping the future leaves the queue.
    pub fn take(&self, amount: usize) -> Take {
        let waiter = Waiter { amount, granted: Cell::new(false), waker: RefCell::default() };
        Take { budget: self.0.clone(), waiter: Rc::new(waiter), state: State::New }
    }

    /// What is out now. It exceeds the capacity while an oversized request is out.
    pub fn used(&self) -> usize {
        self.0.used.get()
    }

    /// The whole budget.
    pub fn capacity(&self) -> usize {
        self.0.capacity
    }

    /// How many requests wait.
    pub fn waiting(&self) -> usize {
        self.0.queue.borrow().len()
    }
}

impl Inner {
    fn fits(&self, amount: usize) -> bool {
        let used = self.used.get();
        used == 0 || used.checked_add(amount).is_some_and(|sum| sum <= self.capacity)
    }

    fn grant(self: &Rc<Self>, amount: usize) -> Permit {
        self.used.set(self.used.get() + amount);
        Permit { budget: self.clone(), amount }
    }

    fn give_back(&self, amount: usize) {
        self.used.set(self.used.get() - amount);
        self.serve();
    }

    /// Grants what fits now, in order.
    fn serve(&self) {
        loop {
            let next = {
                let mut queue = self.queue.borrow_mut();
                match queue.front() {
                    Some(first) if self.fits(first.amount) => queue.pop_front(),
                    _ => None,
                }
            };
            let Some(waiter) = next else { return };
            self.used.set(self.used.get() + waiter.amount);
            waiter.granted.set(true);
            let waker = waiter.waker.take();
            if let Some(waker) = waker {
                waker.wake();
            }
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    New,
    Waiting,
    Done,
}

/// See [`Budget::take`].
#[derive(Debug)]
#[must_use = "nothing is taken until it is awaited"]
pub struct Take {
    budget: Rc<Inner>,
    waiter: Rc<Waiter>,
    state: State,
}

impl Future for Take {
    type Output = Permit;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Permit> {
        let amount = self.waiter.amount;
        match self.state {
            State::New if self.budget.queue.borrow().is_empty() && self.budget.fits(amount) => {
                self.state = State::Done;
                return Poll::Ready(self.budget.grant(amount));
            }
            State::New => {
                self.budget.queue.borrow_mut().push_back(self.waiter.clone());
                self.state = State::Waiting;
            }
            State::Waiting if self.waiter.granted.get() => {
                self.state = State::Done;
                return Poll::Ready(Permit { budget: self.budget.clone(), amount });
            }
            State::Waiting => {}
            State::Done => panic!("a finished future was polled again"),
        }
        *self.waiter.waker.borrow_mut() = Some(cx.waker().clone());
        Poll::Pending
    }
}

impl Drop for Take {
    fn drop(&mut self) {
        if self.state != State::Waiting {
            return;
        }
        if self.waiter.granted.get() {
            self.budget.give_back(self.waiter.amount);
            return;
        }
        self.budget.queue.borrow_mut().retain(|other| !Rc::ptr_eq(other, &self.waiter));
        // It may have been the first, too large for now, with smaller ones behind it.
        self.budget.serve();
    }
}

/// What was taken; it returns when dropped.
#[derive(Debug)]
#[must_use = "dropping it returns it to the budget"]
pub struct Permit {
    budget: Rc<Inner>,
    amount: usize,
}

impl Permit {
    /// How much it holds.
    pub fn amount(&self) -> usize {
        self.amount
    }

    /// Gives back all above `amount`; no effect if it holds less.
    pub fn shrink_to(&mut self, amount: usize) {
        let surplus = self.amount.saturating_sub(amount);
        if surplus > 0 {
            self.amount = amount;
            self.budget.give_back(surplus);
        }
    }

    /// Makes it hold `amount`: gives back the rest, or takes what is missing as [`Budget::charge`] does.
    pub fn adjust_to(&mut self, amount: usize) {
        if amount <= self.amount {
            return self.shrink_to(amount);
        }
        self.budget.used.set(self.budget.used.get() + (amount - self.amount));
        self.amount = amount;
    }

    /// Takes over what another permit holds.
    ///
    /// # Panics
    /// If that one is of another budget.
    pub fn merge(&mut self, mut other: Permit) {
        assert!(Rc::ptr_eq(&self.budget, &other.budget), "permits of two budgets");
        self.amount += std::mem::take(&mut other.amount);
    }

    /// Moves `amount` into a permit of its own.
    ///
    /// # Panics
    /// If it holds less.
    pub fn split(&mut self, amount: usize) -> Permit {
        assert!(amount <= self.amount, "a permit of {} can't give {amount}", self.amount);
        self.amount -= amount;
        Permit { budget: self.budget.clone(), amount }
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        self.budget.give_back(self.amount);
    }
}
