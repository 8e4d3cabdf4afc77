//! Why a run of the simulation came to an end without reaching what it was run for.

use std::time::Duration;

/// A run that did not get where it should. Every variant names the seed: `RINGLOG_SIM_SEED=<seed>` repeats the run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Stop {
    /// The step budget ran out: tasks wake each other for ever, or the budget is too small for the test.
    #[error(
        "sim seed {seed}: step budget of {steps} exhausted at {now:?}: livelock, or raise Sim::set_step_budget"
    )]
    Budget {
        /// The simulation's seed.
        seed: u64,
        /// The budget that was used up, in polls and events.
        steps: u64,
        /// Virtual time since the start of the simulation.
        now: Duration,
    },
    /// No task is ready and no event is due, now or ever: every task waits for a wake-up that nobody can send.
    #[error("sim seed {seed}: nothing left to run at {now:?}: lost wake-up or deadlock")]
    Idle {
        /// The simulation's seed.
        seed: u64,
        /// Virtual time since the start of the simulation.
        now: Duration,
    },
    /// The virtual deadline passed first.
    #[error("sim seed {seed}: condition not met by {now:?}")]
    Deadline {
        /// The simulation's seed.
        seed: u64,
        /// Virtual time since the start of the simulation.
        now: Duration,
    },
    /// The node that ran the awaited task crashed, so its result will never come.
    #[error("sim seed {seed}: node {node} crashed at {now:?} under the awaited task")]
    NodeCrashed {
        /// The simulation's seed.
        seed: u64,
        /// Name of the node.
        node: String,
        /// Virtual time since the start of the simulation.
        now: Duration,
    },
}
