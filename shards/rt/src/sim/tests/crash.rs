//! Crash and restart of whole nodes.

use std::cell::{Cell, RefCell};
use std::path::Path;
use std::rc::Rc;
use std::time::Duration;

use bytes::Bytes;

use crate::sim::disk::{File, sync_dir};
use crate::sim::facade::{now_ns, spawn};
use crate::sim::timer::sleep_until;
use crate::sim::{Crash, Sim, Stop};

#[test]
fn a_crash_drops_all_tasks_and_a_restart_runs_main_again() {
    struct Alive(Rc<Cell<i32>>);
    impl Drop for Alive {
        fn drop(&mut self) {
            self.0.set(self.0.get() - 1);
        }
    }
    let sim = Sim::new(1);
    let (node, other) = (sim.node("a"), sim.node("b"));
    let (alive, ticks) = (Rc::new(Cell::new(0)), Rc::new(Cell::new(0)));
    let (counts, count) = (alive.clone(), ticks.clone());
    node.start(2, move |_| {
        let counts = counts.clone();
        async move {
            counts.set(counts.get() + 1);
            let _alive = Alive(counts.clone());
            let child = spawn(std::future::pending::<()>());
            child.await;
        }
    });
    other.start(1, move |_| {
        let count = count.clone();
        async move {
            loop {
                sleep_until(now_ns() + 1_000_000).await;
                count.set(count.get() + 1);
            }
        }
    });
    sim.run_for(Duration::from_millis(10));
    assert_eq!(alive.get(), 2);
    node.crash(Crash::Kill);
    assert!(!node.is_up());
    assert_eq!(alive.get(), 0);
    let before = ticks.get();
    sim.run_for(Duration::from_millis(10));
    assert!(ticks.get() > before, "the other node goes on");
    node.restart();
    sim.run_for(Duration::from_millis(10));
    assert_eq!(alive.get(), 2);
    drop(sim);
    assert_eq!(alive.get(), 0);
}

#[test]
fn destructors_of_a_crashed_node_start_nothing() {
    struct Restless(Rc<RefCell<Vec<&'static str>>>);
    impl Drop for Restless {
        fn drop(&mut self) {
            self.0.borrow_mut().push("dropped");
            let log = self.0.clone();
            spawn(async move { log.borrow_mut().push("ran") }).detach();
        }
    }
    let (sim, node) = Sim::with_node(1);
    let log = Rc::new(RefCell::new(Vec::new()));
    let restless = Restless(log.clone());
    node.spawn(async move {
        let _restless = restless;
        std::future::pending::<()>().await;
    })
    .detach();
    sim.run_steps(5);
    node.crash(Crash::Kill);
    node.restart();
    sim.run_for(Duration::from_secs(1));
    assert_eq!(*log.borrow(), ["dropped"]);
}

#[test]
fn a_task_may_crash_another_node_and_its_own() {
    let sim = Sim::new(1);
    let (a, b) = (sim.node("a"), sim.node("b"));
    b.start(1, |_| std::future::pending());
    let (own, victim) = (a.clone(), b.clone());
    let stop = sim.try_block_on(&a, async move {
        victim.crash(Crash::PowerCut);
        assert!(!victim.is_up());
        own.crash(Crash::Kill);
        std::future::pending::<()>().await;
    });
    assert!(matches!(&stop, Err(Stop::NodeCrashed { node, .. }) if node == "a"), "{stop:?}");
}

// A log of 8-byte numbers that syncs before it counts one as acked: the smallest storage engine there is.
fn crash_loop(seed: u64, how: Crash, sync: bool) -> bool {
    let (sim, node) = Sim::with_node(seed);
    let acked = Rc::new(Cell::new(0_u64));
    let count = acked.clone();
    node.spawn(async move {
        let file = File::open(Path::new("/log"), true).await.unwrap();
        sync_dir(Path::new("/")).await.unwrap();
        for n in 1..=20_u64 {
            file.write_at((n - 1) * 8, Bytes::copy_from_slice(&n.to_le_bytes())).await.unwrap();
            if sync {
                file.sync_data().await.unwrap();
            }
            count.set(n);
        }
    })
    .detach();
    sim.run_steps(sim.choose(200));
    node.crash(how);
    let acked = acked.get();
    if acked == 0 {
        return true;
    }
    sim.block_on(&node, async move {
        let file = File::open(Path::new("/log"), false).await.unwrap();
        let content = file.read_at(0, 1 << 20).await.unwrap();
        let numbers = content.chunks_exact(8).map(|chunk| u64::from_le_bytes(chunk.try_into().unwrap()));
        let whole = numbers.zip(1..).take_while(|(number, n)| number == n).count() as u64;
        whole >= acked
    })
}

#[test]
fn acked_writes_survive_exactly_as_far_as_they_were_synced() {
    for seed in 0..super::SEEDS {
        assert!(crash_loop(seed, Crash::PowerCut, true), "seed {seed}");
        assert!(crash_loop(seed, Crash::Kill, true), "seed {seed}");
        assert!(crash_loop(seed, Crash::Kill, false), "seed {seed}");
    }
    assert!(super::can_happen(|seed| !crash_loop(seed, Crash::PowerCut, false)));
}
