//! All timers of a shard.
//!
//! A request that waits costs one insertion and one removal in memory. The ring engine sleeps until the earliest deadline. glommio
//! keeps its timers in a tree of its own and re-arms a ring for each: it hears only of the earliest, and only when that
//! moves forward.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use glommio::timer::Timer;

use super::time::now_ns;

/// A timer's place: its deadline in nanoseconds, and a number that makes equal deadlines differ.
pub(crate) type Key = (u64, u64);

/// The first sleep of a process is 30 to 50 ms late while the kernel registers its memory barriers: this one
/// pays.
const WARM_UP: Duration = Duration::from_millis(1);

/// See the module.
#[derive(Default)]
pub(crate) struct Timers {
    entries: RefCell<BTreeMap<Key, Waker>>,
    next: Cell<u64>,
    /// The deadline glommio's timer is set for; `u64::MAX` for none.
    armed_ns: Cell<u64>,
    /// The driver's waker, for a deadline before the armed one.
    driver: RefCell<Option<Waker>>,
}

impl Timers {
    /// Sets a timer, or renews the waker of one that is still set.
    pub(crate) fn set(&self, key: Option<Key>, deadline_ns: u64, waker: &Waker) -> Key {
        let key = key.unwrap_or_else(|| {
            let number = self.next.get();
            self.next.set(number + 1);
            (deadline_ns, number)
        });
        let previous = self.entries.borrow_mut().insert(key, waker.clone());
        drop(previous);
        if deadline_ns < self.armed_ns.get() {
            let driver = self.driver.borrow_mut().take();
            if let Some(driver) = driver {
                driver.wake();
            }
        }
        key
    }

    /// Forgets a timer.
    pub(crate) fn remove(&self, key: Key) {
        let waker = self.entries.borrow_mut().remove(&key);
        drop(waker);
    }

    /// Wakes what is due and returns the next deadline, `u64::MAX` for none.
    pub(crate) fn fire(&self) -> u64 {
        let now = now_ns();
        loop {
            let due = {
                let mut entries = self.entries.borrow_mut();
                match entries.first_key_value() {
                    None => return u64::MAX,
                    Some((key, _)) if key.0 > now => return key.0,
                    Some(_) => entries.pop_first(),
                }
            };
            if let Some((_, waker)) = due {
                waker.wake();
            }
        }
    }

    /// Runs the timers on glommio for as long as it is polled: one task a shard.
    pub(crate) async fn drive(&self) {
        Timer::new(WARM_UP).await;
        loop {
            let next_ns = self.fire();
            self.armed_ns.set(next_ns);
            let timer = (next_ns != u64::MAX)
                .then(|| Timer::new(Duration::from_nanos(next_ns.saturating_sub(now_ns()))));
            Alarm { timers: self, timer }.await;
        }
    }
}

/// Ready at the armed deadline, or when an earlier one came.
struct Alarm<'a> {
    timers: &'a Timers,
    timer: Option<Timer>,
}

impl Future for Alarm<'_> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let earliest = self.timers.entries.borrow().first_key_value().map_or(u64::MAX, |(key, _)| key.0);
        if earliest < self.timers.armed_ns.get() {
            return Poll::Ready(());
        }
        *self.timers.driver.borrow_mut() = Some(cx.waker().clone());
        match &mut self.timer {
            Some(timer) => Pin::new(timer).poll(cx).map(|_| ()),
            None => Poll::Pending,
        }
    }
}
