//! Two brokers beside each other, by the same load, on the same cores, in one sitting.
//!
//! ```text
//!   round 1   A: start, warm up, every line of the suite, stop     B: the same
//!   round 2   B                                                    A
//!   ...       five rounds or more, and one more uncounted to count system calls
//! ```
//! One broker runs at a time, each time a fresh one on empty data, so that neither lives off what the other or
//! an earlier line left. Who begins changes with every round: a host that grows slower while it works would
//! else favour one of them. Of each figure the median over the rounds counts, with its lowest and highest
//! beside it, and what the broker cost comes from /proc, from outside ([`crate::process`]).
//!
//! A figure of one broker alone says little about another host; the ratio of two in one sitting does.

mod args;
mod machine;
mod measure;
mod metric;
mod model;
mod ringlog;
mod run;
mod schedule;
mod start;
mod summary;
mod table;
mod target;

#[cfg(test)]
mod tests;

pub use args::CompareArgs;
pub use machine::Machine;
pub(crate) use metric::figure;
pub use metric::{Better, Metric};
pub use model::{Comparison, Curves, Line, Row, TargetFacts};
pub use run::compare;
pub use summary::Summary;
pub use target::TargetSpec;
