//! The deterministic simulator: whole clusters on one thread, decided by one seed (feature `sim`, tests only).
//!
//! ```text
//!   Sim ── Node ─┬─ shard 0, 1, ..: tasks of the code under test, which calls the facade of this package
//!                ├─ disk            files, sizes and names: seen | surely on disk
//!                └─ address         connections to other nodes and to itself
//! ```
//!
//! # Contract
//! - **Replay.** The same program, seed and sequence of calls to [`Sim`] and [`Node`] take the same way, which
//!   [`Sim::trace_hash`] proves. What breaks it: clocks, threads, maps and randomness from outside `rt`, statics, and
//!   anything that depends on an address in memory.
//! - **Scheduling.** Of all ready tasks of all nodes the seed picks the next. A task runs until it waits. No order of
//!   wake-ups may be relied on, not even within a shard.
//! - **Time** is virtual. A poll takes about a microsecond; when nothing is ready time jumps to the next event. The
//!   wall clock starts at 2025-01-01 and may be skewed per node; the monotonic clock may not.
//! - **Budget.** A run has a number of steps. Using them up is a bug and is reported with the seed ([`Stop`]), as is
//!   having nothing left to run while something is still waited for.
//! - **Crashes.** [`Node::crash`] drops all tasks of a node; each I/O in flight is done, partly done or not done. The
//!   disk stays, by the rules in [`DiskControl`]'s module. [`Node::restart`] runs the node's main again.
//! - `rt::blocking` runs inline. `rt::yield_point` yields by seed, not by time.
//!
//! ```ignore
//! rt::sim::for_each_seed(1_000, |seed| {
//!     let (sim, node) = Sim::with_node(seed);
//!     node.spawn(workload()).detach();
//!     sim.run_steps(sim.choose(500));
//!     node.crash(Crash::PowerCut);
//!     sim.block_on(&node, recover_and_check());
//! });
//! ```

mod current;
pub(crate) mod disk;
mod event;
mod exec;
pub(crate) mod facade;
pub(crate) mod net;
mod node;
mod rng;
mod simulation;
mod slot;
mod stop;
mod task;
pub(crate) mod timer;
mod trace;
mod world;

#[cfg(test)]
mod tests;

pub use disk::{DiskControl, FaultOp, Latency};
pub use node::{Crash, Node};
pub use simulation::{Sim, for_each_seed};
pub use stop::Stop;
pub use task::Task;
