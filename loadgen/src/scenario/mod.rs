//! What a run is to do, as data: TOML files under `benches/scenarios/`, or the flags of a command line.
//!
//! ```text
//! Scenario         a name and its lines
//! └ Line           one load: who sends, who reads, how long
//!   ├ TopicSpec    the topic it goes to
//!   ├ ProduceSpec  producers, batches, records, rate
//!   ├ ConsumeSpec  consumers, groups, fetch sizes
//!   ├ RampSpec     rising rates until a bound is broken
//!   └ ChurnSpec    connections and group members that come and go
//! ```
//! Every field has a default. A file's `[defaults]` hold for all of its `[[line]]`s; see
//! [`Scenario::parse`]. [`Scale`] shrinks a scenario to fit a small machine.

mod builtin;
mod consume;
mod file;
mod kinds;
mod line;
mod produce;
mod scale;
#[expect(clippy::module_inception, reason = "the noun of this folder")]
mod scenario;
mod target;
#[cfg(test)]
mod tests;
mod topic;

pub use builtin::{BUILTIN, builtin};
pub use consume::{ConsumeSpec, From};
pub use kinds::{Acks, Build, Codec, Delivery, Filler, Keys, Sizes};
pub use line::{ChurnSpec, Line, RampSpec, RateOf};
pub use produce::ProduceSpec;
pub use scale::Scale;
pub use scenario::Scenario;
pub use target::Target;
pub use topic::TopicSpec;
