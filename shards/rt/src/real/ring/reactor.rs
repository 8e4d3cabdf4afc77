//! [`Reactor`]: a shard's ring and what is under way on it.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::io;
use std::mem;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::sync::Arc;
use std::task::{Poll, Waker};
use std::time::Duration;

use io_uring::squeue::Entry;
use io_uring::types::{Fd, SubmitArgs, Timespec};
use io_uring::{IoUring, opcode};
use rustix::io::Errno;
use slab::Slab;

use super::op::IfDropped;
use super::remote::Remote;
use crate::real::bomb::die;
use crate::real::time::now_ns;

/// Operations that leave in one turn; more leave in between.
const SUBMISSIONS: u32 = 256;

/// Completions that may be there at once without the kernel keeping some back: all connections of a shard may
/// become readable together.
const COMPLETIONS: u32 = 4096;

/// How long a shard that ends waits for what the kernel still does for it.
const END_WITHIN: Duration = Duration::from_secs(2);

/// The names of completions that nobody waits for.
const BELL: u64 = u64::MAX;
const CANCEL: u64 = u64::MAX - 1;

/// How long a turn may sleep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sleep {
    /// Not at all.
    No,
    /// Until this time of the monotonic clock, in nanoseconds; `u64::MAX` for ever.
    Until(u64),
}

/// See the module. It belongs to the thread that made it.
pub(crate) struct Reactor {
    ring: RefCell<IoUring>,
    slots: RefCell<Slab<Slot>>,
    /// Completions taken out of the ring and not yet told.
    done: RefCell<Vec<(u64, i32)>>,
    /// Where the bell's count is read to.
    bell_count: Box<Cell<u64>>,
    /// The read of it is under way.
    is_bell_armed: Cell<bool>,
    phase: Cell<Phase>,
    remote: Arc<Remote>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Phase {
    #[default]
    Running,
    /// All is cancelled, and nothing is begun by itself any more.
    Ending,
    /// The kernel hasn't let go in time: what it may touch is never freed.
    GivenUp,
}

/// One operation.
enum Slot {
    Waiting(Option<Waker>),
    Done(i32),
    /// Its future is gone; the kernel may still touch what that kept.
    Abandoned(Box<dyn Any>, IfDropped),
}

impl Reactor {
    /// On a ring of this thread.
    pub(super) fn new(ring: IoUring, remote: Arc<Remote>) -> Reactor {
        let reactor = Reactor {
            ring: RefCell::new(ring),
            slots: RefCell::new(Slab::with_capacity(1024)),
            done: RefCell::default(),
            bell_count: Box::default(),
            is_bell_armed: Cell::default(),
            phase: Cell::default(),
            remote,
        };
        reactor.listen_for_bell();
        reactor
    }

    fn listen_for_bell(&self) {
        let to = self.bell_count.as_ptr().cast();
        let entry = opcode::Read::new(Fd(self.remote.bell().as_raw_fd()), to, 8).build().user_data(BELL);
        self.is_bell_armed.set(true);
        self.push(&entry);
    }

    /// Queues an operation and returns its key.
    pub(super) fn submit(&self, entry: Entry) -> usize {
        let key = self.slots.borrow_mut().insert(Slot::Waiting(None));
        self.push(&entry.user_data(key as u64));
        key
    }

    fn push(&self, entry: &Entry) {
        let mut ring = self.ring.borrow_mut();
        loop {
            // SAFETY: what the entry points to is owned by its `Op`, by the slot of an abandoned one, or by this reactor, until
            // the completion is taken in; see `Op::begin`, `Reactor::end` and the drop.
            #[allow(unsafe_code, reason = "the queue can't know what an entry points to")]
            let pushed = unsafe { ring.submission().push(entry) };
            if pushed.is_ok() {
                return;
            }
            // The queue is full: what is in it leaves now. The kernel may want to be rid of completions first.
            check(ring.submit());
            self.collect(&mut ring);
        }
    }

    /// The result of an operation, once.
    pub(super) fn poll(&self, key: usize, waker: &Waker) -> Poll<i32> {
        {
            let mut slots = self.slots.borrow_mut();
            match &slots[key] {
                Slot::Done(result) => {
                    let result = *result;
                    slots.remove(key);
                    return Poll::Ready(result);
                }
                Slot::Waiting(Some(known)) if known.will_wake(waker) => return Poll::Pending,
                Slot::Waiting(_) => {}
                Slot::Abandoned(..) => unreachable!("an abandoned operation has no future"),
            }
        }
        // Outside of a borrow: a waker's clone and drop may run anything.
        let waker = waker.clone();
        let known = mem::replace(&mut self.slots.borrow_mut()[key], Slot::Waiting(Some(waker)));
        drop(known);
        Poll::Pending
    }

    /// Nobody waits for an operation any more: keeps what it works on until it is done.
    pub(super) fn abandon(&self, key: usize, kept: Box<dyn Any>, if_dropped: IfDropped) {
        if self.phase.get() == Phase::GivenUp {
            return mem::forget(kept);
        }
        let was = {
            let mut slots = self.slots.borrow_mut();
            match slots[key] {
                Slot::Done(_) => slots.remove(key),
                _ => mem::replace(&mut slots[key], Slot::Abandoned(kept, if_dropped)),
            }
        };
        if let Slot::Done(result) = was {
            return forget_result(result, if_dropped);
        }
        if if_dropped == IfDropped::Cancel {
            self.cancel(key as u64);
        }
    }

    fn cancel(&self, name: u64) {
        self.push(&opcode::AsyncCancel::new(name).build().user_data(CANCEL));
    }

    /// True if a turn has something to submit or to take in.
    pub(super) fn has_work(&self) -> bool {
        let mut ring = self.ring.borrow_mut();
        !ring.completion().is_empty() || !self.done.borrow().is_empty() || wants_enter(&mut ring)
    }

    /// One turn: submits, takes in what is done and wakes who waits for it; sleeps before if told so and nothing is there.
    pub(super) fn turn(&self, sleep: Sleep) {
        {
            let mut ring = self.ring.borrow_mut();
            let sleep = if self.done.borrow().is_empty() { sleep } else { Sleep::No };
            match sleep {
                Sleep::No if !wants_enter(&mut ring) => {}
                Sleep::No => check(ring.submit()),
                Sleep::Until(u64::MAX) => check(ring.submit_and_wait(1)),
                Sleep::Until(deadline_ns) => {
                    let left = Timespec::from(Duration::from_nanos(deadline_ns.saturating_sub(now_ns())));
                    check(ring.submitter().submit_with_args(1, &SubmitArgs::new().timespec(&left)));
                }
            }
            self.collect(&mut ring);
        }
        self.tell();
    }

    fn collect(&self, ring: &mut IoUring) {
        let entries = ring.completion().map(|entry| (entry.user_data(), entry.result()));
        self.done.borrow_mut().extend(entries);
    }

    /// Tells what is done.
    fn tell(&self) {
        let mut done = mem::take(&mut *self.done.borrow_mut());
        for (name, result) in done.drain(..) {
            match name {
                BELL => {
                    self.is_bell_armed.set(false);
                    if self.phase.get() == Phase::Running {
                        self.listen_for_bell();
                    }
                }
                CANCEL => {}
                key => self.complete(key as usize, result),
            }
        }
        // For its memory; what came meanwhile is told next time.
        let mut later = self.done.borrow_mut();
        done.append(&mut later);
        *later = done;
    }

    fn complete(&self, key: usize, result: i32) {
        let was = {
            let mut slots = self.slots.borrow_mut();
            match slots[key] {
                Slot::Abandoned(..) => slots.remove(key),
                _ => mem::replace(&mut slots[key], Slot::Done(result)),
            }
        };
        // The borrow is over: a waker, and what an abandoned operation kept, may run anything.
        match was {
            Slot::Waiting(Some(waker)) => waker.wake(),
            Slot::Abandoned(kept, if_dropped) => {
                forget_result(result, if_dropped);
                drop(kept);
            }
            Slot::Waiting(None) | Slot::Done(_) => {}
        }
    }

    /// Cancels all that is under way and waits until the kernel touches nothing of it any more.
    pub(super) fn end(&self) {
        self.phase.set(Phase::Ending);
        self.cancel(BELL);
        let keys: Vec<usize> = self.slots.borrow().iter().map(|(key, _)| key).collect();
        for key in keys {
            self.cancel(key as u64);
        }
        let until = now_ns() + END_WITHIN.as_nanos() as u64;
        while self.is_busy() {
            if now_ns() >= until {
                tracing::error!("a shard ended with I/O under way");
                return self.give_up();
            }
            self.turn(Sleep::Until(now_ns() + 10_000_000));
        }
    }

    /// Better lost than handed out again while the device still writes there.
    pub(super) fn give_up(&self) {
        self.phase.set(Phase::GivenUp);
        mem::forget(mem::take(&mut *self.slots.borrow_mut()));
    }

    /// How many operations have a slot.
    #[cfg(test)]
    pub(super) fn under_way(&self) -> usize {
        self.slots.borrow().len()
    }

    fn is_busy(&self) -> bool {
        let is_open = |(_, slot): (usize, &Slot)| !matches!(slot, Slot::Done(_));
        self.is_bell_armed.get() || self.slots.borrow().iter().any(is_open)
    }
}

impl Drop for Reactor {
    fn drop(&mut self) {
        // Closing a ring doesn't wait for what is under way on it, and unless it was ended, the bell's read is.
        if self.is_bell_armed.get() {
            mem::forget(mem::take(&mut self.bell_count));
        }
    }
}

/// The result of an operation that nobody waits for.
fn forget_result(result: i32, if_dropped: IfDropped) {
    if if_dropped == IfDropped::CloseResult && result >= 0 {
        // SAFETY: the kernel has just made this descriptor for an operation that nobody waits for: nobody else knows it.
        #[allow(unsafe_code, reason = "the ring hands out raw descriptors")]
        drop(unsafe { OwnedFd::from_raw_fd(result) });
    }
}

/// True if only the kernel can go on: there is something to submit, or completions that it works off in a call.
fn wants_enter(ring: &mut IoUring) -> bool {
    let queue = ring.submission();
    !queue.is_empty() || queue.taskrun() || queue.cq_overflow()
}

/// With the features of newer kernels, or without.
pub(super) fn make_ring() -> io::Result<IoUring> {
    let mut newest = IoUring::builder();
    newest.setup_cqsize(COMPLETIONS).setup_single_issuer().setup_defer_taskrun().setup_taskrun_flag();
    // 6.0 and 6.1 brought these; EINVAL before.
    let ring = newest.build(SUBMISSIONS).or_else(|_| make_plain_ring())?;
    if !ring.params().is_feature_ext_arg() {
        let why =
            "io_uring can't sleep with a deadline before Linux 5.11: ringlog.io.engine=glommio goes without";
        return Err(io::Error::new(io::ErrorKind::Unsupported, why));
    }
    Ok(ring)
}

/// As older kernels can.
pub(super) fn make_plain_ring() -> io::Result<IoUring> {
    IoUring::builder().setup_cqsize(COMPLETIONS).build(SUBMISSIONS)
}

/// What an `io_uring_enter` may answer in the course of things; anything else is no state to go on in.
fn check(entered: io::Result<usize>) {
    let Err(error) = entered else { return };
    match Errno::from_io_error(&error) {
        // A signal, the time is up, no room for more completions before some are taken in, no memory right now.
        Some(Errno::INTR | Errno::TIME | Errno::BUSY | Errno::AGAIN) => {}
        _ => die(&format!("io_uring_enter: {error}")),
    }
}

impl std::fmt::Debug for Reactor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Reactor").field("under_way", &self.slots.borrow().len()).finish_non_exhaustive()
    }
}
