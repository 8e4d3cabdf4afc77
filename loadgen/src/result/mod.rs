//! What a run measured, as data: printed as a table, written as JSON, compared, plotted.
//!
//! ```text
//! RunResult          one scenario against one target
//! └ LineResult       one line of it: rates, latencies, a series by the second, cost, proof
//!   ├ Flow           records and bytes that went one way
//!   ├ Latency        percentiles of one kind of waiting, and the curve
//!   ├ Second         one second of it
//!   ├ VerifyOutcome  what verification found
//!   ├ ClientCost     what the load generator itself took
//!   └ BrokerSample   what the broker took, where its process could be watched
//! ```
//! Every type reads back what it wrote; fields that are added later have defaults, so that old files stay
//! readable. Units stand last in names; a MB is 10^6 bytes of record values (keys and framing not counted).

mod cost;
mod figure;
mod flow;
mod latency;
mod line;
mod run_result;
mod second;
#[cfg(test)]
mod tests;
mod verify_outcome;

pub use cost::{BrokerSample, ClientCost};
pub use figure::Figure;
pub use flow::Flow;
pub use latency::{CurvePoint, Latency};
pub use line::{LineResult, Outcome, RampStep};
pub use run_result::{Host, RunResult, TargetInfo};
pub use second::Second;
pub use verify_outcome::{Fault, VerifyOutcome};
