//! The commands beside running a load: comparing, starting a peer, measuring a disk, drawing results.

mod command;
mod report_args;

pub use command::ToolCommand;
pub use report_args::ReportArgs;
