//! Tests of the simulator: what can happen does within some seeds, what cannot never does.

mod crash;
mod disk_names;
mod disk_power;
mod disk_state;
mod exec;
mod net;
mod replay;
mod speed;

use std::cell::Cell;
use std::future::Future;
use std::rc::Rc;

use super::{Node, Sim};

/// Seeds for what must never happen.
const SEEDS: u64 = 1_000;

/// True if `case` is true for some of [`SEEDS`] seeds.
fn can_happen(case: impl Fn(u64) -> bool) -> bool {
    (0..SEEDS).any(case)
}

/// Spawns a task of the node without a handle; the cell turns true when it is done.
fn background<F: Future<Output = ()> + 'static>(node: &Node, future: F) -> Rc<Cell<bool>> {
    let done = Rc::new(Cell::new(false));
    let flag = done.clone();
    node.spawn(async move {
        future.await;
        flag.set(true);
    })
    .detach();
    done
}

/// A node that has run `setup` to its end.
fn node_after<F: Future<Output = ()> + 'static>(seed: u64, setup: F) -> (Sim, Node) {
    let (sim, node) = Sim::with_node(seed);
    sim.block_on(&node, setup);
    (sim, node)
}
