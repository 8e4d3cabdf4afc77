//! What an operator types and sees: the commands of `ringlog-loadgen` and of `ringlog bench`.

mod args;
mod details;
mod execute;
mod parse;
mod progress;
mod run_args;
mod table;
#[cfg(test)]
mod tests;

pub use args::{BenchArgs, SinkArgs, SuiteArgs};
pub use execute::execute;
pub use run_args::RunArgs;
