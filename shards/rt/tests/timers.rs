//! Timers and tasks of a real shard.

#![allow(clippy::unwrap_used, reason = "a failed step is a failed test")]
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "tests watch the runtime from outside"
)]

#[macro_use]
mod common;

use std::cell::{Cell, RefCell};
use std::future::pending;
use std::rc::Rc;
use std::time::Duration;

use rt::{Engine, TaskSet};

on_both_engines![
    timers_fire_in_order_and_in_time,
    an_earlier_timer_passes_a_later_one,
    a_timeout_drops_its_future,
    tasks_end_with_their_owner,
    a_task_set_forgets_the_finished,
    randomness_differs
];

const DEADLINE: Duration = Duration::from_secs(60);

/// Loose: the cores are shared with whatever else is being built.
const LATE_MAX: Duration = Duration::from_millis(80);

fn one_shard<F: Future<Output = ()> + 'static>(engine: Engine, main: fn() -> F) {
    common::bounded(DEADLINE, move || rt::run(common::shards(engine, 1), move |_| main()).unwrap());
}

fn timers_fire_in_order_and_in_time(engine: Engine) {
    one_shard(engine, || async {
        let fired = Rc::new(RefCell::new(Vec::new()));
        let tasks = TaskSet::new();
        let began = rt::now();
        for index in 0..1_000_u64 {
            let fired = fired.clone();
            // Neither ascending nor descending, each its own.
            let after = Duration::from_micros(20_000 + (index * 7_919 % 1_000) * 200);
            tasks.spawn(async move {
                rt::sleep_until(began + after).await;
                let late = rt::now() - (began + after);
                assert!(late < LATE_MAX, "{after:?} was {late:?} late");
                fired.borrow_mut().push(after);
            });
        }
        rt::sleep(Duration::from_millis(400)).await;
        assert_eq!((tasks.len(), fired.borrow().len()), (0, 1_000));
        assert!(fired.borrow().is_sorted());
    });
}

fn an_earlier_timer_passes_a_later_one(engine: Engine) {
    one_shard(engine, || async {
        let long = rt::spawn(rt::sleep(Duration::from_secs(30)));
        rt::sleep(Duration::from_millis(5)).await;
        let began = rt::now();
        rt::sleep(Duration::from_millis(10)).await;
        let took = rt::now() - began;
        assert!(took >= Duration::from_millis(10) && took < LATE_MAX, "{took:?}");
        assert!(!long.is_finished());
        assert_eq!(long.cancel().await, None);
    });
}

fn a_timeout_drops_its_future(engine: Engine) {
    one_shard(engine, || async {
        let dropped = Rc::new(Cell::new(false));
        let flag = OnDrop(dropped.clone());
        let slow = async move {
            let _flag = flag;
            pending::<()>().await;
        };
        assert!(rt::timeout(Duration::from_millis(10), slow).await.is_err());
        assert!(dropped.get());
        assert_eq!(rt::timeout(Duration::from_secs(30), async { 5 }).await, Ok(5));
        assert_eq!(rt::timeout(Duration::ZERO, async { 5 }).await, Ok(5));
    });
}

struct OnDrop(Rc<Cell<bool>>);

impl Drop for OnDrop {
    fn drop(&mut self) {
        self.0.set(true);
    }
}

fn tasks_end_with_their_owner(engine: Engine) {
    one_shard(engine, || async {
        let flags: Vec<_> = (0..3).map(|_| Rc::new(Cell::new(false))).collect();
        let hang = |index: usize| {
            let flag = OnDrop(flags[index].clone());
            async move {
                let _flag = flag;
                pending::<()>().await;
            }
        };
        let cancelled = rt::spawn(hang(0));
        let dropped = rt::spawn(hang(1));
        let tasks = TaskSet::new();
        tasks.spawn(hang(2));
        rt::sleep(Duration::from_millis(1)).await;
        assert_eq!(cancelled.cancel().await, None);
        assert!(flags[0].get());
        drop(dropped);
        tasks.cancel_all().await;
        assert!(flags[2].get() && tasks.is_empty());
        rt::sleep(Duration::from_millis(1)).await;
        assert!(flags[1].get());
        let done = rt::spawn(async { 7 });
        rt::sleep(Duration::from_millis(1)).await;
        assert!(done.is_finished());
        assert_eq!(done.await, 7);
    });
}

fn a_task_set_forgets_the_finished(engine: Engine) {
    one_shard(engine, || async {
        let tasks = TaskSet::new();
        for _ in 0..1_000 {
            tasks.spawn(async {});
            rt::yield_point().await;
        }
        rt::sleep(Duration::from_millis(20)).await;
        assert!(tasks.is_empty());
    });
}

fn randomness_differs(engine: Engine) {
    one_shard(engine, || async {
        let numbers: std::collections::BTreeSet<u64> = (0..1_000).map(|_| rt::random_u64()).collect();
        assert_eq!(numbers.len(), 1_000);
        assert_ne!(rt::random_bytes::<16>(), rt::random_bytes::<16>());
    });
}
