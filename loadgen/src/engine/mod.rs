//! What runs on the shards: producers, consumers, and the reports they give to the conductor's thread.
//!
//! ```text
//!  conductor's thread            shards (rt::run)
//!   Engine ── Plan, Control ──>  shard ── producers, consumers, members, churn
//!          <── Report ─────────        └─ a tick of Stats each
//! ```
//! A plan doesn't change while it runs; orders go through [`Control`].

mod churn;
mod context;
mod control;
mod layout;
mod plan;
mod run;
mod shard;
mod stats;
mod wait;

pub(crate) use context::ShardContext;
pub(crate) use control::Control;
pub(crate) use layout::Layout;
pub(crate) use plan::{Plan, Reading};
pub(crate) use run::{Engine, Report};
pub(crate) use stats::{Counter, Stats, note};
pub(crate) use wait::wait;
