//! Wake-ups from other threads.

use std::io;
use std::mem;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering, fence};

use async_task::Runnable;
use concurrent_queue::ConcurrentQueue;
use rustix::event::{EventfdFlags, eventfd};

/// What other threads share with a shard: the tasks they woke, and its bell.
///
/// No wake-up is lost: who wakes pushes, then looks whether the shard sleeps; the shard says that it sleeps, then
/// looks at the queue. With a full fence between the two steps on both sides, one of them sees the other.
#[derive(Debug)]
pub(super) struct Remote {
    /// Each task is in it at most once, so it is as bounded as the number of tasks.
    woken: ConcurrentQueue<Runnable>,
    asleep: AtomicBool,
    /// The shard has ended: its tasks must not be dropped on another thread.
    ended: AtomicBool,
    bell: OwnedFd,
}

impl Remote {
    pub(super) fn new() -> io::Result<Remote> {
        let bell = eventfd(0, EventfdFlags::CLOEXEC)?;
        let (asleep, ended) = Default::default();
        Ok(Remote { woken: ConcurrentQueue::unbounded(), asleep, ended, bell })
    }

    /// What the ring reads to be woken: 8 bytes.
    pub(super) fn bell(&self) -> BorrowedFd<'_> {
        self.bell.as_fd()
    }

    /// Hands a woken task to its shard, from any thread.
    pub(super) fn push(&self, task: Runnable) {
        if self.ended.load(Ordering::Acquire) {
            // Its future belongs to a thread that is gone.
            return mem::forget(task);
        }
        // Only a closed queue refuses, and this one is never closed.
        if let Err(refused) = self.woken.push(task) {
            mem::forget(refused.into_inner());
        }
        fence(Ordering::SeqCst);
        if self.asleep.load(Ordering::Relaxed) && self.asleep.swap(false, Ordering::Relaxed) {
            // The counter can't overflow: one write a sleep. No other error is possible on an own eventfd.
            let _ = rustix::io::write(&self.bell, &1u64.to_ne_bytes());
        }
    }

    /// The next task that another thread woke.
    pub(super) fn pop(&self) -> Option<Runnable> {
        self.woken.pop().ok()
    }

    /// True if there is something to [`Self::pop`].
    pub(super) fn has_woken(&self) -> bool {
        !self.woken.is_empty()
    }

    /// The shard is about to sleep. False: something came meanwhile, and it must not.
    pub(super) fn fall_asleep(&self) -> bool {
        self.asleep.store(true, Ordering::Relaxed);
        fence(Ordering::SeqCst);
        if self.has_woken() {
            self.wake_up();
            return false;
        }
        true
    }

    /// The shard runs again.
    pub(super) fn wake_up(&self) {
        self.asleep.store(false, Ordering::Relaxed);
    }

    /// The shard has ended: what is woken from now on is left where it is.
    pub(super) fn end(&self) {
        self.ended.store(true, Ordering::Release);
    }
}
