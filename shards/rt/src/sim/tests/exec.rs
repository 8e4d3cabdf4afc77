use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

use super::can_happen;
use crate::sim::facade::{now_ns, shard, spawn, unix_ms, yield_now, yield_point};
use crate::sim::timer::sleep_until;
use crate::sim::{Crash, Sim, Stop};

#[test]
fn ready_tasks_share_the_thread_fairly() {
    let (sim, node) = Sim::with_node(7);
    let counts: Rc<[Cell<u32>; 8]> = Rc::default();
    for n in 0..8 {
        let counts = counts.clone();
        node.spawn(async move {
            loop {
                counts[n].set(counts[n].get() + 1);
                yield_now().await;
            }
        })
        .detach();
    }
    sim.run_steps(8_000);
    for count in counts.iter() {
        assert!((800..1_200).contains(&count.get()), "{counts:?}");
    }
}

#[test]
fn every_order_of_two_wake_ups_happens() {
    let first_to_run = |seed| {
        let (sim, node) = Sim::with_node(seed);
        let order = Rc::new(RefCell::new(Vec::new()));
        for n in 0..2 {
            let order = order.clone();
            node.spawn(async move { order.borrow_mut().push(n) }).detach();
        }
        sim.run_for(Duration::from_secs(1));
        let order = order.take();
        assert_eq!(order.len(), 2);
        order[0]
    };
    assert!(can_happen(|seed| first_to_run(seed) == 0));
    assert!(can_happen(|seed| first_to_run(seed) == 1));
}

#[test]
fn sleeps_end_in_order_of_their_deadlines_and_time_jumps() {
    let (sim, node) = Sim::with_node(1);
    let order = Rc::new(RefCell::new(Vec::new()));
    for hours in [3_u64, 1, 2] {
        let order = order.clone();
        node.spawn(async move {
            let deadline = now_ns() + hours * 3_600_000_000_000;
            sleep_until(deadline).await;
            assert!(now_ns() >= deadline);
            order.borrow_mut().push(hours);
        })
        .detach();
    }
    sim.run_for(Duration::from_secs(4 * 3_600));
    assert_eq!(*order.borrow(), [1, 2, 3]);
    // Nothing was left to run after the last one.
    assert!(sim.elapsed() >= Duration::from_secs(3 * 3_600));
    assert!(sim.elapsed() < Duration::from_secs(3 * 3_600 + 1));
}

#[test]
fn a_run_ends_at_its_deadline() {
    let (sim, node) = Sim::with_node(1);
    node.spawn(async { sleep_until(u64::MAX).await }).detach();
    let stop = sim.run_until(Duration::from_secs(5), || false);
    assert!(matches!(stop, Err(Stop::Deadline { seed: 1, .. })), "{stop:?}");
    assert_eq!(sim.elapsed(), Duration::from_secs(5));
}

#[test]
fn wall_clock_starts_at_the_epoch_and_may_be_skewed() {
    let (sim, node) = Sim::with_node(1);
    let before = sim.block_on(&node, async { unix_ms() });
    assert_eq!(before, 1_735_689_600_000);
    node.set_clock_skew_ms(-5_000);
    assert_eq!(sim.block_on(&node, async { unix_ms() }), before - 5_000);
}

#[test]
fn an_exhausted_budget_is_reported_with_the_seed() {
    let (sim, node) = Sim::with_node(42);
    sim.set_step_budget(1_000);
    let stop = sim.try_block_on(&node, async {
        loop {
            yield_now().await;
        }
    });
    assert!(matches!(stop, Err::<(), _>(Stop::Budget { seed: 42, steps: 1_000, .. })), "{stop:?}");
    assert!(stop.unwrap_err().to_string().contains("seed 42"));
}

#[test]
#[should_panic(expected = "sim seed 43: nothing left to run")]
fn a_lost_wake_up_is_reported_with_the_seed() {
    let (sim, node) = Sim::with_node(43);
    sim.block_on(&node, std::future::pending::<()>());
}

#[test]
fn a_dropped_handle_cancels_and_a_detached_one_does_not() {
    let (sim, node) = Sim::with_node(3);
    let ran = Rc::new(Cell::new(0));
    let (a, b) = (ran.clone(), ran.clone());
    sim.block_on(&node, async move {
        let sleep = || sleep_until(now_ns() + 1_000_000);
        drop(spawn(async move {
            sleep().await;
            a.set(a.get() + 1);
        }));
        spawn(async move {
            sleep().await;
            b.set(b.get() + 10);
        })
        .detach();
        sleep_until(now_ns() + 10_000_000).await;
    });
    assert_eq!(ran.get(), 10);
}

#[test]
fn cancel_waits_for_the_drop_and_gives_a_finished_output() {
    struct Noisy(Rc<Cell<bool>>);
    impl Drop for Noisy {
        fn drop(&mut self) {
            self.0.set(true);
        }
    }
    let (sim, node) = Sim::with_node(3);
    let dropped = Rc::new(Cell::new(false));
    let noisy = Noisy(dropped.clone());
    sim.block_on(&node, async move {
        let task = spawn(async move {
            let _noisy = noisy;
            std::future::pending::<u32>().await
        });
        yield_now().await;
        assert!(!dropped.get());
        assert_eq!(task.cancel().await, None);
        assert!(dropped.get());
        let done = spawn(async { 5 });
        while !done.is_finished() {
            yield_now().await;
        }
        assert_eq!(done.cancel().await, Some(5));
    });
}

#[test]
fn shards_are_the_tasks_own_and_are_inherited() {
    let sim = Sim::new(1);
    let node = sim.node("a");
    let seen = Rc::new(RefCell::new(Vec::new()));
    let shards = seen.clone();
    node.start(3, move |id| {
        let shards = shards.clone();
        async move {
            assert_eq!(shard(), id.0);
            let inherited = spawn(async { shard() }).await;
            shards.borrow_mut().push(inherited);
        }
    });
    sim.run_until(Duration::from_secs(1), || node.is_finished()).unwrap();
    seen.borrow_mut().sort_unstable();
    assert_eq!(*seen.borrow(), [0, 1, 2]);
}

#[test]
fn yield_points_yield_now_and_then() {
    let (sim, node) = Sim::with_node(5);
    let others = Rc::new(Cell::new(0));
    let count = others.clone();
    node.spawn(async move {
        loop {
            count.set(count.get() + 1);
            yield_now().await;
        }
    })
    .detach();
    sim.block_on(&node, async {
        for _ in 0..1_000 {
            yield_point().await;
        }
    });
    assert!((100..400).contains(&others.get()), "{}", others.get());
}

#[test]
fn a_paused_node_stands_still() {
    let (sim, node) = Sim::with_node(5);
    let count = Rc::new(Cell::new(0));
    let ticks = count.clone();
    node.spawn(async move {
        loop {
            sleep_until(now_ns() + 1_000_000).await;
            ticks.set(ticks.get() + 1);
        }
    })
    .detach();
    sim.run_for(Duration::from_millis(100));
    let before = count.get();
    assert!(before > 90);
    node.pause();
    sim.run_for(Duration::from_secs(1));
    assert_eq!(count.get(), before);
    node.resume();
    sim.run_for(Duration::from_millis(100));
    assert!(count.get() > before + 90);
    node.crash(Crash::Kill);
}
