//! [`Executor`]: a shard's run loop.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::future::Future;
use std::io;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use async_task::{Runnable, Task};
use io_uring::IoUring;

use super::reactor::{Reactor, Sleep, make_ring};
use super::remote::Remote;
use crate::real::current::Shard;
use crate::real::time::now_ns;

/// The running executor of this thread.
struct Local {
    remote: Arc<Remote>,
    ready: VecDeque<Runnable>,
}

thread_local! {
    static LOCAL: RefCell<Option<Local>> = const { RefCell::new(None) };
}

/// See the module.
pub(crate) struct Executor {
    reactor: Rc<Reactor>,
    remote: Arc<Remote>,
    spin: Duration,
}

/// Spawns on this thread's executor.
///
/// # Panics
/// If there is none.
pub(crate) fn spawn<F: Future + 'static>(future: F) -> Task<F::Output> {
    let remote = LOCAL.with(|local| local.borrow().as_ref().map(|local| Arc::clone(&local.remote)));
    let remote = remote.expect("spawned outside of a shard");
    let (task, handle) = async_task::spawn_local(future, move |woken| schedule(&remote, woken));
    task.schedule();
    handle
}

/// Puts a woken task where its executor finds it, from any thread.
fn schedule(remote: &Arc<Remote>, woken: Runnable) {
    let mut woken = Some(woken);
    // No access while the thread's locals are being destroyed: then this isn't the executor's thread any more.
    let _ = LOCAL.try_with(|local| {
        if let Some(local) = &mut *local.borrow_mut()
            && Arc::ptr_eq(&local.remote, remote)
        {
            local.ready.extend(woken.take());
        }
    });
    if let Some(woken) = woken {
        remote.push(woken);
    }
}

fn next_ready() -> Option<Runnable> {
    LOCAL.with(|local| local.borrow_mut().as_mut()?.ready.pop_front())
}

/// Drops what is ready, and what becomes so by that.
fn drop_ready(remote: &Remote) {
    while let Some(task) = next_ready().or_else(|| remote.pop()) {
        drop(task);
    }
}

fn has_ready() -> bool {
    LOCAL.with(|local| local.borrow().as_ref().is_some_and(|local| !local.ready.is_empty()))
}

impl Executor {
    /// This thread's executor.
    pub(crate) fn make(spin: Duration) -> io::Result<Executor> {
        Executor::on(make_ring()?, spin)
    }

    pub(super) fn on(ring: IoUring, spin: Duration) -> io::Result<Executor> {
        let remote = Arc::new(Remote::new()?);
        let reactor = Rc::new(Reactor::new(ring, Arc::clone(&remote)));
        Ok(Executor { reactor, remote, spin })
    }

    /// The ring its operations go through.
    pub(crate) fn reactor(&self) -> Rc<Reactor> {
        Rc::clone(&self.reactor)
    }

    /// Runs `main` and the tasks it spawns until `main` is done. The tasks that are left are dropped when they are ready, the others never.
    pub(crate) fn run(&self, shard: &Shard, main: impl Future<Output = ()> + 'static) {
        let local = Local { remote: Arc::clone(&self.remote), ready: VecDeque::new() };
        LOCAL.with(|slot| *slot.borrow_mut() = Some(local));
        let done = Rc::new(Cell::new(false));
        let set_done = Rc::clone(&done);
        let main = spawn(async move {
            main.await;
            set_done.set(true);
        });
        while !done.get() {
            self.run_ready(shard, &done);
            let next_timer_ns = shard.timers.fire();
            if done.get() {
                break;
            }
            self.turn(next_timer_ns);
            shard.turns.taken();
        }
        drop(main);
        self.end();
    }

    /// Runs what is ready, until it is time to look at the ring.
    fn run_ready(&self, shard: &Shard, done: &Cell<bool>) {
        // Behind what is ready here: neither can keep the other waiting for long.
        while let Some(woken) = self.remote.pop() {
            schedule(&self.remote, woken);
        }
        while !done.get() && !shard.turns.is_overdue() {
            let Some(task) = next_ready() else { return };
            task.run();
        }
    }

    fn turn(&self, next_timer_ns: u64) {
        if has_ready() || self.remote.has_woken() || self.spins() {
            return self.reactor.turn(Sleep::No);
        }
        if self.remote.fall_asleep() {
            self.reactor.turn(Sleep::Until(next_timer_ns));
            self.remote.wake_up();
        }
    }

    /// Looks for work a little longer. True if there is some.
    fn spins(&self) -> bool {
        if self.spin.is_zero() {
            return false;
        }
        let until = now_ns() + self.spin.as_nanos() as u64;
        // What is to be submitted leaves before the wait for it.
        self.reactor.turn(Sleep::No);
        while !has_ready() && !self.remote.has_woken() && !self.reactor.has_work() {
            if now_ns() >= until {
                return false;
            }
            std::hint::spin_loop();
        }
        true
    }

    /// Drops what is ready on this thread, and leaves the rest to nobody.
    fn end(&self) {
        drop_ready(&self.remote);
        // It wakes who waited for what it cancels.
        self.reactor.end();
        drop_ready(&self.remote);
        self.remote.end();
        drop_ready(&self.remote);
        LOCAL.with(|slot| slot.borrow_mut().take());
    }
}
