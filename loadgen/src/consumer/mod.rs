//! One consumer of plain partitions, and what is done with what it gets.
//!
//! ```text
//!  Positions ── where it stands, by partition       pure
//!  Session ──── what a broker remembers (KIP-227)   pure
//!  Aborted ──── what readers of the committed skip  pure
//!  Taker ────── counts, or keeps a ledger           pure
//!  drive ────── Link, one a broker                  I/O
//! ```

mod aborted;
mod drive;
mod positions;
mod session;
mod taker;
#[cfg(test)]
mod tests;

pub(crate) use drive::{Consumer, ConsumerPlan};
pub(crate) use positions::Positions;
pub(crate) use taker::{Taker, Tally};
