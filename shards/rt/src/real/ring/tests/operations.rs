//! Operations, kept and given up.

use std::cell::{Cell, RefCell};
use std::fs;
use std::io::Write;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use io_uring::opcode::{Nop, Read};
use io_uring::types::Fd;

use super::{OnDrop, a_while, begin, event, fire, reactor};
use crate::fs::{IoBuf, OpenMode};
use crate::real::ring::file::RingFile;
use crate::real::ring::op::{IfDropped, Op};
use crate::real::ring::readiness::{Interest, Wait, ready};
use crate::{TaskSet, spawn};

on_both_rings![
    more_operations_than_the_queue_holds,
    more_completions_than_the_queue_holds,
    what_a_dropped_read_fills_stays_valid,
    a_dropped_open_closes_its_descriptor,
    a_dropped_wait_leaves_room_for_a_new_one,
    wakers_may_drop_operations,
    what_is_lost_stays_lost,
    a_zeroed_buffer_is_zero_when_used_again,
    buffers_of_another_size_make_room,
];

/// 256 leave at once: the queue is emptied in between, and what is done meanwhile is told later.
async fn more_operations_than_the_queue_holds() {
    let reactor = reactor();
    let begun: Vec<_> = (0..10_000)
        .map(|index| Op::begin(&reactor, index, IfDropped::Finish, |_| Nop::new().build()))
        .collect();
    for (index, op) in begun.into_iter().enumerate() {
        let (result, kept) = op.await;
        assert_eq!((result.unwrap(), kept), (0, index));
    }
    assert_eq!(reactor.under_way(), 0);
}

/// 4096 fit: the kernel keeps the others back, and none is lost.
async fn more_completions_than_the_queue_holds() {
    let event = event();
    let tasks = TaskSet::new();
    let woken = Rc::new(Cell::new(0));
    for _ in 0..6_000 {
        let (event, woken) = (event.clone(), woken.clone());
        tasks.spawn(async move {
            ready(&reactor(), event, Interest::Readable).await.unwrap();
            woken.set(woken.get() + 1);
        });
    }
    a_while().await;
    assert_eq!((woken.get(), reactor().under_way()), (0, 6_000));
    fire(&event);
    while woken.get() < 6_000 {
        crate::sleep(Duration::from_millis(1)).await;
    }
    assert_eq!(reactor().under_way(), 0);
}

/// The kernel fills it later: whoever gave up must not have freed it.
async fn what_a_dropped_read_fills_stays_valid() {
    let (mut peer, socket) = UnixStream::pair().unwrap();
    let fd = Rc::new(OwnedFd::from(socket));
    let freed = Rc::new(Cell::new(0));
    for _ in 0..100 {
        let kept = (IoBuf::zeroed(4096), OnDrop(freed.clone()), fd.clone());
        let mut read = Op::begin(&reactor(), kept, IfDropped::Finish, |(buf, _, fd)| {
            Read::new(Fd(fd.as_raw_fd()), buf.as_mut_ptr(), 4096).build()
        });
        begin(&mut read).await;
        drop(read);
    }
    a_while().await;
    assert_eq!((freed.get(), Rc::strong_count(&fd)), (0, 101));
    for done in 1..=100 {
        peer.write_all(&[7; 4096]).unwrap();
        while freed.get() < done {
            crate::sleep(Duration::from_millis(1)).await;
        }
    }
    assert_eq!((reactor().under_way(), Rc::strong_count(&fd)), (0, 1));
}

/// A server that gives up requests would run out of descriptors.
async fn a_dropped_open_closes_its_descriptor() {
    let dir = tempfile::tempdir().unwrap();
    let path = fs::canonicalize(dir.path()).unwrap().join("file");
    fs::write(&path, [1; 10]).unwrap();
    let mode = OpenMode::Read { direct: false };
    for turns in 0..3 {
        for _ in 0..20 {
            let reactor = reactor();
            let mut open = Box::pin(RingFile::open(&reactor, &path, mode));
            begin(&mut open).await;
            // Given up before it leaves, while it is under way, and when it is done.
            if turns > 0 {
                futures_lite::future::yield_now().await;
            }
            if turns > 1 {
                a_while().await;
            }
            drop(open);
        }
    }
    while reactor().under_way() > 0 {
        a_while().await;
    }
    assert_eq!(descriptors(&path), 0);
}

fn descriptors(path: &Path) -> usize {
    let open = fs::read_dir("/proc/self/fd").unwrap();
    open.filter(|entry| fs::read_link(entry.as_ref().unwrap().path()).is_ok_and(|link| link == path)).count()
}

async fn a_dropped_wait_leaves_room_for_a_new_one() {
    let event = event();
    for _ in 0..1_000 {
        let wait = Wait::new(Interest::Readable);
        std::future::poll_fn(|cx| {
            assert!(wait.poll(&reactor(), &event, cx).is_pending());
            Poll::Ready(())
        })
        .await;
    }
    let wait = Rc::new(Wait::new(Interest::Readable));
    let (waiting, fd) = (wait.clone(), event.clone());
    let woken =
        spawn(async move { std::future::poll_fn(|cx| waiting.poll(&reactor(), &fd, cx)).await.unwrap() });
    a_while().await;
    assert_eq!(reactor().under_way(), 1, "dropped waits are still under way");
    assert!(!woken.is_finished());
    fire(&event);
    woken.await;
    assert_eq!((reactor().under_way(), Rc::strong_count(&event)), (0, 1));
}

thread_local! {
    static VICTIM: RefCell<Option<Op<Rc<OwnedFd>>>> = const { RefCell::new(None) };
}

/// Its last reference gives an operation up.
struct Dropping;

impl Wake for Dropping {
    fn wake(self: Arc<Self>) {}
}

impl Drop for Dropping {
    fn drop(&mut self) {
        drop(VICTIM.take());
    }
}

/// Regression: the slots were borrowed while wakers were dropped, and these may be the last of whatever.
async fn wakers_may_drop_operations() {
    let begin_wait = || {
        let event = event();
        Op::begin(&reactor(), event, IfDropped::Cancel, |fd| {
            io_uring::opcode::PollAdd::new(Fd(fd.as_raw_fd()), 1).build()
        })
    };
    let poll = |op: &mut Op<Rc<OwnedFd>>, waker: Waker| {
        let pinned = std::pin::Pin::new(op);
        assert!(pinned.poll(&mut Context::from_waker(&waker)).is_pending());
    };
    // Replaced by another.
    let mut op = begin_wait();
    poll(&mut op, Waker::from(Arc::new(Dropping)));
    VICTIM.set(Some(begin_wait()));
    poll(&mut op, Waker::noop().clone());
    assert!(VICTIM.take().is_none());
    // Given up with the operation.
    poll(&mut op, Waker::from(Arc::new(Dropping)));
    VICTIM.set(Some(begin_wait()));
    drop(op);
    assert!(VICTIM.take().is_none());
    a_while().await;
    assert_eq!(reactor().under_way(), 0);
}

/// When the device answers too late, the shard ends without it, and what waits for it is dropped after that.
async fn what_is_lost_stays_lost() {
    let (event, freed) = (event(), Rc::new(Cell::new(0)));
    let kept = (event.clone(), OnDrop(freed.clone()));
    let mut op = Op::begin(&reactor(), kept, IfDropped::Cancel, |(fd, _)| {
        io_uring::opcode::PollAdd::new(Fd(fd.as_raw_fd()), 1).build()
    });
    begin(&mut op).await;
    reactor().give_up();
    drop(op);
    assert_eq!(freed.get(), 0, "freed what the kernel may still touch");
}

async fn a_zeroed_buffer_is_zero_when_used_again() {
    let mut places = std::collections::BTreeSet::new();
    for blocks in [4, 4, 3, 1, 4, 2, 4] {
        let mut buf = IoBuf::zeroed(blocks * 4096);
        assert!(buf.iter().all(|byte| *byte == 0));
        buf.fill(0xFF);
        places.insert(buf.as_ptr() as usize);
    }
    assert!(places.len() < 7, "no buffer was used again");
}

/// Regression: once full of small buffers, a shard kept no large one ever after.
async fn buffers_of_another_size_make_room() {
    let small: Vec<_> = (0..3_000).map(|_| IoBuf::zeroed(4096)).collect();
    drop(small);
    let mut large = IoBuf::zeroed(1 << 20);
    large.fill(0xAB);
    drop(large);
    // Never handed to anyone with that in it, but a new one would hold zeros.
    assert!(IoBuf::scratch(1 << 20).iter().all(|byte| *byte == 0xAB));
}
