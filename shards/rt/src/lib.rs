//! The runtime facade: tasks, time, files, sockets, lanes and randomness, real or simulated.
//!
//! Types are concrete and hold their arm inside, `Real | Sim`; no generic parameter is threaded through the
//! code. Free functions find the running runtime by a thread-local: the simulated one if a simulated task is
//! being polled on this thread, else the real one. The real arm (`real`) alone names glommio and io_uring;
//! the simulated one (`sim`) exists only with the feature of that name, which the shipped binary never has.
//! [`sync`] is built on wakers and shared by both.
//!
//! ```text
//!   facade      task, time, random, yielding, fs, net       boot, shards     sync
//!                  |                         |                 |              (both)
//!   arms         sim (seed, virtual time)  real (2 engines) <--+
//! ```
//!
//! Operations are completion-shaped with owned buffers, so that a readiness loop, a ring of our own or a
//! simulator can serve them.

// `thread_local!` is the one way for free functions to know their runtime; this lint can't be allowed further
// inside.
#![allow(clippy::disallowed_macros, reason = "rt is where the running runtime is known")]

pub mod boot;
pub mod fs;
mod hash;
mod ids;
pub mod net;
mod process_usage;
mod random;
mod real;
mod shards;
#[cfg(feature = "sim")]
pub mod sim;
pub mod sync;
mod task;
mod task_set;
mod time;
mod time_histogram;
mod yielding;

pub use hash::{FixedState, HashMap, HashSet};
pub use ids::{ShardId, shard};
pub use process_usage::{ProcessUsage, process_usage};
pub use random::{random_bytes, random_u64};
pub use shards::{BootError, Engine, SPIN_MAX, ShardsConfig, run};
pub use sync::{lane, oneshot};
pub use task::{Task, spawn};
pub use task_set::TaskSet;
pub use time::{Elapsed, Instant, now, sleep, sleep_until, timeout, unix_ms};
pub use time_histogram::{TIME_BOUNDS_NS, TimeCounts, TimeHistogram};
pub use yielding::{blocking, consume_budget, yield_point};
