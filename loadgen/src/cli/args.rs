//! Which commands there are.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::RunArgs;
use crate::scenario::{Delivery, Scale};
use crate::tool::ToolCommand;

/// Commands of the load generator; without one, `run`.
#[derive(Debug, Clone, Args)]
pub struct BenchArgs {
    #[command(subcommand)]
    pub(super) command: Option<Command>,
    #[command(flatten)]
    pub(super) run: RunArgs,
}

/// What to do.
#[derive(Debug, Clone, Subcommand)]
pub(super) enum Command {
    /// One load, described by flags
    Run(Box<RunArgs>),
    /// A list of loads: one that comes along, or a scenario file
    Suite(SuiteArgs),
    /// A broker that only acknowledges, to measure the load generator itself
    Sink(SinkArgs),
    #[command(flatten)]
    Tool(ToolCommand),
}

/// What both kinds of runs are told.
#[derive(Debug, Clone, Default, Args)]
pub(super) struct CommonArgs {
    /// Writes the result to a file as JSON; - is standard output
    #[arg(long, value_name = "FILE")]
    pub(super) json: Option<PathBuf>,
    /// Writes the result to a file as a page with plots
    #[arg(long, value_name = "FILE")]
    pub(super) html: Option<PathBuf>,
    /// Cores to run on [default: all]
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(super) shards: Option<u16>,
    /// No progress in the terminal
    #[arg(long, short = 'q')]
    pub(super) quiet: bool,
    /// A name for the target in results [default: its address]
    #[arg(long, value_name = "NAME")]
    pub(super) target_name: Option<String>,
}

/// `suite`: a scenario.
#[derive(Debug, Clone, Args)]
pub struct SuiteArgs {
    /// kreps2014, omb, telemetry, catchup, latency, churn; or a scenario file
    #[arg(value_name = "NAME|FILE", required_unless_present = "list")]
    pub(super) suite: Option<String>,
    /// Lists the suites that come along, and their lines
    #[arg(long)]
    pub(super) list: bool,
    /// Shrinks it: small (0.04), full, or a factor
    #[arg(long, default_value_t = Scale::FULL)]
    pub(super) scale: Scale,
    /// Only lines with this in their name
    #[arg(long, value_name = "PART")]
    pub(super) line: Option<String>,
    /// Verifies every line that can be
    #[arg(long, value_enum, num_args = 0..=1, default_missing_value = "once", value_name = "DELIVERY")]
    pub(super) verify: Option<Delivery>,
    #[command(flatten)]
    pub(super) common: CommonArgs,
}

/// `sink`: a fake broker.
#[derive(Debug, Clone, Args)]
pub struct SinkArgs {
    /// Where it listens; port 0 picks a free one
    #[arg(long, default_value = "127.0.0.1:9092", value_name = "HOST:PORT")]
    pub(super) listen: SocketAddr,
    /// Partitions of a topic that nobody has created
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(i32).range(1..=100_000))]
    pub(super) partitions: i32,
}
