//! Options of `ringlog-loadgen compare`.

use std::path::PathBuf;

use clap::Args;

use super::TargetSpec;
use crate::peer::parse_heap;
use crate::scenario::Scale;

/// Settings of [`crate::compare::compare`].
#[derive(Debug, Clone, Args)]
pub struct CompareArgs {
    /// The two to compare, each `[NAME=]kafka`, `ringlog`, `HOST:PORT[,HOST:PORT]`, or `cmd:COMMAND` with {listen} or
    /// {port}, and {data} and {cores} if it likes [default: kafka ringlog]
    #[arg(value_name = "TARGET", num_args = 2)]
    pub targets: Vec<TargetSpec>,
    /// The suite both go through, or a scenario file (.toml)
    #[arg(long, default_value = "kreps2014")]
    pub suite: String,
    /// How far the suite is shrunk: full, small, or a factor between 0 and 1
    #[arg(long, default_value = "small")]
    pub scale: Scale,
    /// Only the lines whose name holds this
    #[arg(long, value_name = "TEXT")]
    pub only: Option<String>,
    /// Rounds that count; five or more for figures to quote
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub rounds: u32,
    /// Cores of both brokers, as 0-3 or 0,2 [default: all]
    #[arg(long, value_name = "CORES")]
    pub cores: Option<String>,
    /// Where the brokers' data go, on the device to measure [default: below cargo's target directory]
    #[arg(long, value_name = "DIR")]
    pub work_dir: Option<PathBuf>,
    /// The binary `ringlog` [default: beside this program; a build in cargo's target directory is made anew]
    #[arg(long, value_name = "PATH")]
    pub ringlog: Option<PathBuf>,
    /// A setting for Ringlog; may be repeated
    #[arg(long, value_name = "KEY=VALUE")]
    pub ringlog_override: Vec<String>,
    /// Heap of Kafka, as 4g or 512m [default: a quarter of the memory, 1g to 6g]
    #[arg(long, value_name = "SIZE", value_parser = parse_heap)]
    pub heap: Option<u64>,
    /// Don't add the uncounted round in which `perf stat` counts system calls
    #[arg(long)]
    pub no_syscalls: bool,
    /// Write the comparison as JSON
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Write the comparison as a page with plots
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
}
