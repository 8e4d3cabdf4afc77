//! [`Sim`]: the handle a test holds.

use std::future::Future;
use std::rc::Rc;
use std::time::Duration;

use super::node::{Crash, Node};
use super::stop::Stop;
use super::task::Task;
use super::world::World;

/// A simulation: nodes, their network and virtual time, all decided by one seed.
///
/// Dropping it crashes every node. If a panic passes through, the seed is printed.
pub struct Sim {
    pub(crate) world: Rc<World>,
}

impl Sim {
    /// A simulation without nodes, at virtual time 0. The same seed and the same calls give the same run.
    pub fn new(seed: u64) -> Sim {
        Sim { world: World::new(seed) }
    }

    /// A simulation with one node, for tests of files and tasks.
    pub fn with_node(seed: u64) -> (Sim, Node) {
        let sim = Sim::new(seed);
        let node = sim.node("node");
        (sim, node)
    }

    /// Adds a node, down, with an empty disk and an address of its own.
    pub fn node(&self, name: &str) -> Node {
        Node::add(&self.world, name)
    }

    /// The seed given to [`Sim::new`].
    pub fn seed(&self) -> u64 {
        self.world.seed
    }

    /// Virtual time since the start.
    pub fn elapsed(&self) -> Duration {
        self.world.elapsed()
    }

    /// A hash over every decision, I/O and moment so far: two runs with the same hash took the same way.
    pub fn trace_hash(&self) -> u64 {
        self.world.trace.hash()
    }

    /// Limits each later run (`block_on`, `run_*`) to `steps` polls and events; 20 million at first.
    pub fn set_step_budget(&self, steps: u64) {
        self.world.set_step_budget(steps);
    }

    /// A number below `bound` from the simulation's own stream, for a test's choices (which node, when).
    pub fn choose(&self, bound: u64) -> u64 {
        self.world.rng.sched.below(bound)
    }

    /// Runs until `condition` holds, asked before each step.
    ///
    /// # Errors
    /// [`Stop::Deadline`] after `within` of virtual time, [`Stop::Idle`] when nothing can run any more,
    /// [`Stop::Budget`].
    pub fn run_until(&self, within: Duration, condition: impl FnMut() -> bool) -> Result<(), Stop> {
        let until_ns = self.world.now_ns().saturating_add(within.as_nanos() as u64);
        self.world.run(until_ns, condition)
    }

    /// Runs for `duration` of virtual time, or until nothing can run any more.
    ///
    /// # Panics
    /// With the seed, when the step budget is exhausted.
    pub fn run_for(&self, duration: Duration) {
        match self.run_until(duration, || false) {
            Ok(()) | Err(Stop::Deadline { .. } | Stop::Idle { .. }) => {}
            Err(stop) => panic!("{stop}"),
        }
    }

    /// Runs `steps` polls and events, fewer if nothing can run any more: for crashes at any point of a workload.
    pub fn run_steps(&self, steps: u64) {
        let mut left = steps;
        let stopped = self.world.run(u64::MAX, || {
            let done = left == 0;
            left = left.saturating_sub(1);
            done
        });
        if let Err(stop @ Stop::Budget { .. }) = stopped {
            panic!("{stop}");
        }
    }

    /// Runs the simulation until `future`, a task of the node's shard 0, is done. A node that is down is booted first,
    /// with no other task.
    ///
    /// # Panics
    /// With the seed, on any [`Stop`].
    pub fn block_on<F: Future + 'static>(&self, node: &Node, future: F) -> F::Output {
        self.try_block_on(node, future).unwrap_or_else(|stop| panic!("{stop}"))
    }

    /// As [`Sim::block_on`], for a run that may not come to its end.
    ///
    /// # Errors
    /// [`Stop::Idle`], [`Stop::Budget`], or [`Stop::NodeCrashed`] when another task crashed the node.
    pub fn try_block_on<F: Future + 'static>(&self, node: &Node, future: F) -> Result<F::Output, Stop> {
        let task: Task<F::Output> = node.spawn(future);
        self.world.run(u64::MAX, || task.is_finished())?;
        task.try_take().ok_or_else(|| Stop::NodeCrashed {
            seed: self.world.seed,
            node: node.name(),
            now: self.world.elapsed(),
        })
    }

    pub(crate) fn nodes(&self) -> Vec<Node> {
        let count = self.world.nodes.borrow().len();
        (0..count).map(|n| Node { world: self.world.clone(), id: super::node::NodeId(n as u16) }).collect()
    }
}

impl Drop for Sim {
    fn drop(&mut self) {
        if std::thread::panicking() {
            // Destructors of tasks could panic again and hide the first panic: leave them.
            eprintln!("sim: failed with seed {}: repeat with RINGLOG_SIM_SEED={0}", self.world.seed);
            return;
        }
        // Tasks hold files and connections, mains hold nodes, and all of them the world: cycles that would leak.
        for node in self.nodes() {
            node.crash(Crash::Kill);
            node.forget_main();
        }
    }
}

impl std::fmt::Debug for Sim {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sim").field("seed", &self.world.seed).field("elapsed", &self.elapsed()).finish()
    }
}

/// Calls `body` with `count` seeds from 0 up. `RINGLOG_SIM_SEED=n` runs that seed alone, `RINGLOG_SIM_SEEDS=n` runs n.
pub fn for_each_seed(count: u64, body: impl Fn(u64)) {
    let read = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    if let Some(seed) = read("RINGLOG_SIM_SEED") {
        return body(seed);
    }
    for seed in 0..read("RINGLOG_SIM_SEEDS").unwrap_or(count) {
        body(seed);
    }
}
