//! One producer: what it sends and when, as a pure machine, and the task that carries it out.
//!
//! ```text
//!  Schedule ──> Producer ──> Maker, Template       pure: time is an argument
//!   when          │ slots: open, full, again        batches
//!                 v
//!               drive ──> Link, one a broker        I/O
//! ```

mod drive;
mod machine;
mod maker;
mod schedule;
mod slot;
mod template;
#[cfg(test)]
mod tests;
mod times;
mod transactions;

pub(crate) use drive::{Finished, drive};
pub(crate) use machine::ProducerPlan;
