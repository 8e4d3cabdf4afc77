//! Proving that what was acknowledged arrived: once or at least once, in order, unaltered.
//!
//! Every record carries its producer, its sequence in its partition, and a checksum (`payload::Stamp`). Producers keep which
//! sequences were acknowledged, as ranges; afterwards everything is read back, and a [`Ledger`] keeps what was seen.
//! Memory: one range a producer and partition, as long as records come in order.

mod ledger;
mod ranges;
mod settle;
#[cfg(test)]
mod tests;

pub(crate) use ledger::{Ledger, Rules};
pub(crate) use ranges::Ranges;
pub(crate) use settle::settle;

/// What one producer had acknowledged in one partition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Acked {
    pub(crate) producer: u32,
    pub(crate) slot: u32,
    /// Sequences it made: `0..sent`.
    pub(crate) sent: u64,
    /// Those that were acknowledged.
    pub(crate) ranges: Ranges,
}
