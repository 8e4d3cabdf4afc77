//! Tests of waiting and lanes. No runtime: they are wakers alone.

use std::cell::Cell;
use std::future::Future;
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use futures_lite::future::block_on;

use super::lane::{Closed, Full};
use super::{Budget, Notify, lane, oneshot};

/// Counts its wakes.
#[derive(Default)]
struct Count(AtomicUsize);

impl Wake for Count {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

fn counting() -> (Arc<Count>, Waker) {
    let count = Arc::new(Count::default());
    (count.clone(), Waker::from(count))
}

#[test]
fn notify_wakes_those_before_it_and_keeps_nothing() {
    let notify = Notify::new();
    let (count, waker) = counting();
    let cx = &mut Context::from_waker(&waker);
    notify.notify_waiters();
    let mut first = pin!(notify.notified());
    let mut second = pin!(notify.notified());
    assert!(first.as_mut().poll(cx).is_pending());
    // Not polled yet: still woken by what comes between its making and its first poll.
    notify.notify_waiters();
    assert_eq!(count.0.load(Ordering::Relaxed), 1);
    assert!(first.poll(cx).is_ready());
    assert!(second.as_mut().poll(cx).is_ready());
    assert!(pin!(notify.notified()).poll(cx).is_pending());
}

#[test]
fn notify_keeps_one_waker_a_waiter() {
    let notify = Notify::new();
    let (count, waker) = counting();
    let cx = &mut Context::from_waker(&waker);
    {
        let mut waiter = pin!(notify.notified());
        for _ in 0..100 {
            assert!(waiter.as_mut().poll(cx).is_pending());
        }
        assert_eq!(notify.waiters(), 1);
    }
    assert_eq!(notify.waiters(), 0, "a dropped waiter stayed");
    for _ in 0..100 {
        assert!(pin!(notify.notified()).poll(cx).is_pending());
    }
    assert_eq!((notify.waiters(), Arc::strong_count(&count)), (0, 2));
    let mut waiter = pin!(notify.notified());
    assert!(waiter.as_mut().poll(cx).is_pending());
    notify.notify_waiters();
    assert_eq!(count.0.load(Ordering::Relaxed), 1);
}

#[test]
fn budget_serves_in_order() {
    let budget = Budget::new(10);
    let (count, waker) = counting();
    let cx = &mut Context::from_waker(&waker);
    let small = budget.try_take(4).unwrap();
    let mut large = Box::pin(budget.take(8));
    assert!(large.as_mut().poll(cx).is_pending());
    assert!(budget.try_take(1).is_none(), "passed one that waits");
    let mut behind = Box::pin(budget.take(1));
    assert!(behind.as_mut().poll(cx).is_pending());
    drop(small);
    assert_eq!((budget.used(), budget.waiting(), count.0.load(Ordering::Relaxed)), (9, 0, 2));
    let Poll::Ready(permit) = large.as_mut().poll(cx) else { panic!("not granted") };
    drop(permit);
    // Granted, but never taken: it returns with its future.
    drop(behind);
    assert_eq!(budget.used(), 0);
}

#[test]
fn budget_leaves_the_queue_when_dropped() {
    let budget = Budget::new(10);
    let (_, waker) = counting();
    let cx = &mut Context::from_waker(&waker);
    let held = budget.try_take(5).unwrap();
    let mut large = Box::pin(budget.take(9));
    let mut small = Box::pin(budget.take(5));
    assert!(large.as_mut().poll(cx).is_pending());
    assert!(small.as_mut().poll(cx).is_pending());
    drop(large);
    assert!(small.as_mut().poll(cx).is_ready(), "one behind a dropped one waits on");
    drop(held);
}

#[test]
fn budget_admits_the_oversized_alone() {
    let budget = Budget::new(10);
    let (_, waker) = counting();
    let cx = &mut Context::from_waker(&waker);
    let held = budget.try_take(1).unwrap();
    let mut huge = Box::pin(budget.take(usize::MAX));
    assert!(huge.as_mut().poll(cx).is_pending());
    drop(held);
    let Poll::Ready(permit) = huge.as_mut().poll(cx) else { panic!("never admitted") };
    assert!(budget.try_take(1).is_none(), "admitted beside an oversized one");
    drop(permit);
    assert_eq!(budget.used(), 0);
}

#[test]
fn permits_shrink_and_split() {
    let budget = Budget::new(10);
    let mut permit = budget.try_take(10).unwrap();
    permit.shrink_to(6);
    permit.shrink_to(9);
    let part = permit.split(2);
    assert_eq!((budget.used(), permit.amount(), part.amount()), (6, 4, 2));
    drop(permit);
    assert_eq!(budget.used(), 2);
}

#[test]
fn oneshot_gives_the_value_or_the_end() {
    let (sender, receiver) = oneshot::channel();
    sender.send(5).unwrap();
    assert_eq!(block_on(receiver.recv()), Some(5));
    let (sender, receiver) = oneshot::channel::<u8>();
    drop(sender);
    assert_eq!(block_on(receiver), None);
    let (sender, receiver) = oneshot::channel();
    drop(receiver);
    assert!(sender.is_closed());
    assert_eq!(sender.send(5), Err(5));
}

#[test]
fn oneshot_wakes_its_receiver() {
    let (sender, receiver) = oneshot::channel();
    let (count, waker) = counting();
    let mut receiver = pin!(receiver);
    assert!(receiver.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
    sender.send(1).unwrap();
    assert_eq!(count.0.load(Ordering::Relaxed), 1);
}

#[test]
fn a_full_lane_holds_its_sender_back() {
    let (mut sender, mut receiver) = lane::channel(2);
    let (count, waker) = counting();
    let cx = &mut Context::from_waker(&waker);
    sender.try_send(1).unwrap();
    sender.try_send(2).unwrap();
    assert_eq!((sender.try_send(3), sender.free_slots(), receiver.len()), (Err(Full(3)), 0, 2));
    {
        let mut send = pin!(sender.send(3));
        assert!(send.as_mut().poll(cx).is_pending());
        assert_eq!(receiver.try_recv(), Some(1));
        assert_eq!(count.0.load(Ordering::Relaxed), 1);
        assert_eq!(send.poll(cx), Poll::Ready(Ok(())));
    }
    // Given up before there was room: nothing was sent.
    assert!(pin!(sender.send(4)).poll(cx).is_pending());
    assert_eq!((receiver.try_recv(), receiver.try_recv(), receiver.try_recv()), (Some(2), Some(3), None));
}

#[test]
fn a_lane_ends_from_either_side() {
    let (mut sender, mut receiver) = lane::channel(4);
    sender.try_send(1).unwrap();
    drop(sender);
    assert_eq!((block_on(receiver.recv()), block_on(receiver.recv())), (Some(1), None));

    let (mut sender, receiver) = lane::channel(1);
    let (count, waker) = counting();
    sender.try_send(1).unwrap();
    {
        let mut send = pin!(sender.send(2));
        let cx = &mut Context::from_waker(&waker);
        assert!(send.as_mut().poll(cx).is_pending());
        drop(receiver);
        assert_eq!(count.0.load(Ordering::Relaxed), 1, "the sender wasn't told");
        assert_eq!(send.poll(cx), Poll::Ready(Err(Closed(2))));
    }
    assert!(sender.is_closed());

    let (sender, mut receiver) = lane::channel::<u8>(1);
    let (count, waker) = counting();
    let mut recv = pin!(receiver.recv());
    assert!(recv.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
    drop(sender);
    assert_eq!(count.0.load(Ordering::Relaxed), 1, "the receiver wasn't told");
}

#[test]
#[allow(clippy::disallowed_methods, reason = "the other end of the lane")]
fn a_sender_is_told_when_nobody_wants_its_items_any_more() {
    let (mut sender, mut receiver) = lane::channel::<u8>(1);
    let (count, waker) = counting();
    {
        let mut closed = pin!(sender.closed());
        let cx = &mut Context::from_waker(&waker);
        assert!(closed.as_mut().poll(cx).is_pending());
        drop(receiver);
        assert_eq!(count.0.load(Ordering::Relaxed), 1, "the sender wasn't told");
        assert!(closed.poll(cx).is_ready());
    }
    // Items that are still there are no end, and from another thread it is the same.
    (sender, receiver) = lane::channel::<u8>(1);
    sender.try_send(1).unwrap();
    assert!(pin!(sender.closed()).poll(&mut Context::from_waker(&waker)).is_pending());
    let other = std::thread::spawn(move || drop(receiver));
    block_on(sender.closed());
    other.join().unwrap();
}

#[test]
#[allow(clippy::disallowed_methods, reason = "the other end of the lane")]
fn a_lane_crosses_threads_in_order() {
    const ITEMS: u64 = 100_000;
    let (mut sender, mut receiver) = lane::channel(8);
    let other = std::thread::spawn(move || {
        block_on(async {
            for item in 0..ITEMS {
                sender.send(item).await.unwrap();
            }
        });
    });
    let expected = Rc::new(Cell::new(0));
    block_on(async {
        while let Some(item) = receiver.recv().await {
            assert_eq!(item, expected.replace(item + 1));
        }
    });
    other.join().unwrap();
    assert_eq!(expected.get(), ITEMS);
}

#[test]
fn budget_counts_beyond_its_capacity_what_is_there_already() {
    let budget = Budget::new(10);
    let mut held = budget.try_take(8).unwrap();
    let counted = budget.charge(7);
    assert_eq!((budget.used(), counted.amount()), (15, 7));
    assert!(budget.try_take(1).is_none());
    held.adjust_to(12);
    assert_eq!((budget.used(), held.amount()), (19, 12));
    held.merge(counted);
    assert_eq!((budget.used(), held.amount()), (19, 19));
    let (count, waker) = counting();
    let mut waiting = Box::pin(budget.take(4));
    assert!(waiting.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
    held.adjust_to(6);
    assert_eq!((budget.used(), budget.waiting(), count.0.load(Ordering::Relaxed)), (10, 0, 1));
    drop((held, waiting));
    assert_eq!(budget.used(), 0);
}
