//! The end of a shard, and what comes after it.

use std::future::{pending, poll_fn};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};
use std::time::{Duration, Instant};

use io_uring::opcode::Read;
use io_uring::types::Fd;

use super::{a_while, event, reactor, shard};
use crate::real::ring::op::{IfDropped, Op};
use crate::real::ring::reactor::{make_plain_ring, make_ring};
use crate::real::ring::readiness::{Interest, ready};
use crate::spawn;

/// Counts what is freed, also on the thread that has ended.
struct Freed(Arc<AtomicUsize>);

impl Drop for Freed {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// Polls and reads that never end, and tasks that wait for nothing but are owned by those.
#[test]
fn it_frees_what_is_under_way() {
    for ring in [make_ring, make_plain_ring] {
        let freed = Arc::new(AtomicUsize::new(0));
        let counter = freed.clone();
        let began = Instant::now();
        shard(ring, move || async move {
            let (_peer, socket) = UnixStream::pair().unwrap();
            let (event, socket) = (event(), Rc::new(OwnedFd::from(socket)));
            for _ in 0..500 {
                let (event, fd) = (event.clone(), socket.clone());
                let child = spawn(hang(Freed(counter.clone())));
                let poll = spawn(polled(event, Freed(counter.clone()), child));
                let read = spawn(read(fd, Freed(counter.clone())));
                std::mem::forget((poll, read));
            }
            a_while().await;
            assert_eq!(reactor().under_way(), 1_000, "the reads, the polls and no more");
        });
        assert!(began.elapsed() < Duration::from_secs(2), "it took {:?}", began.elapsed());
        assert_eq!(freed.load(Ordering::Relaxed), 1_500);
    }
}

async fn hang(_freed: Freed) {
    pending::<()>().await;
}

async fn polled(event: Rc<OwnedFd>, _freed: Freed, _child: crate::Task<()>) {
    let _ = ready(&reactor(), event, Interest::Readable).await;
}

async fn read(fd: Rc<OwnedFd>, _freed: Freed) {
    let op = Op::begin(&reactor(), (vec![0_u8; 64], fd), IfDropped::Finish, |(buf, fd)| {
        Read::new(Fd(fd.as_raw_fd()), buf.as_mut_ptr(), 64).build()
    });
    let _ = op.await;
}

/// The task is gone or left where it is, and never dropped by a thread that isn't its own.
#[test]
fn waking_after_it_does_nothing() {
    for ring in [make_ring, make_plain_ring] {
        let wakers = Arc::new(Mutex::new(Vec::<Waker>::new()));
        let kept = wakers.clone();
        shard(ring, move || async move {
            for _ in 0..10 {
                let kept = kept.clone();
                std::mem::forget(spawn(poll_fn(move |cx| {
                    kept.lock().unwrap().push(cx.waker().clone());
                    Poll::<()>::Pending
                })));
            }
            a_while().await;
        });
        let wakers = std::mem::take(&mut *wakers.lock().unwrap());
        assert_eq!(wakers.len(), 10);
        for waker in wakers {
            waker.wake_by_ref();
            std::thread::spawn(move || waker.wake()).join().unwrap();
        }
    }
}

/// Whoever wakes sees the shard either running or gone.
#[test]
fn waking_beside_it_does_nothing_either() {
    for round in 0..200 {
        let waker = Arc::new(Mutex::new(None::<Waker>));
        let (kept, over) = (waker.clone(), Arc::new(AtomicBool::new(false)));
        let stop = over.clone();
        let thread = std::thread::spawn(move || {
            while !stop.load(Ordering::Relaxed) {
                let known = waker.lock().unwrap().clone();
                known.inspect(|waker| waker.wake_by_ref());
            }
        });
        shard(if round % 2 == 0 { make_ring } else { make_plain_ring }, move || async move {
            std::mem::forget(spawn(poll_fn(move |cx| {
                *kept.lock().unwrap() = Some(cx.waker().clone());
                Poll::<()>::Pending
            })));
            futures_lite::future::yield_now().await;
        });
        over.store(true, Ordering::Relaxed);
        thread.join().unwrap();
    }
}
