//! Options of all commands, and which commands there are.

use clap::{Args, Parser, Subcommand, ValueEnum};
use loadgen::cli::BenchArgs;

use super::check::CheckArgs;
use super::cluster::ClusterCommand;
use super::completions::CompletionsArgs;
use super::config::ConfigCommand;
use super::consume::ConsumeArgs;
use super::group::GroupCommand;
use super::log::LogCommand;
use super::man::ManArgs;
use super::placement::PlacementCommand;
use super::produce::ProduceArgs;
use super::serve::ServeArgs;
use super::topic::TopicCommand;
use super::tune::TuneArgs;

/// A Kafka-compatible streaming broker, and its tools.
#[derive(Debug, Parser)]
#[command(name = "ringlog", version, propagate_version = true)]
pub struct Cli {
    #[command(flatten)]
    pub(super) global: GlobalArgs,
    #[command(subcommand)]
    pub(super) command: Command,
}

/// Options before or after any command.
#[derive(Debug, Clone, Args)]
pub(super) struct GlobalArgs {
    /// Brokers to ask first, HOST:PORT, several by commas
    #[arg(long, short = 'b', global = true, default_value = "127.0.0.1:9092", value_name = "HOST:PORT")]
    pub(super) bootstrap_server: String,
    /// How to print results
    #[arg(long, short = 'o', global = true, value_enum, default_value_t = OutputFormat::Table)]
    pub(super) output: OutputFormat,
}

/// How results are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum OutputFormat {
    /// For people
    Table,
    /// For programs: one document, or one a line where there is a stream
    Json,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Run a broker
    Serve(ServeArgs),
    /// Create, list, describe, alter, trim and delete topics
    #[command(subcommand)]
    Topic(TopicCommand),
    /// Send lines of standard input or a file as records
    Produce(ProduceArgs),
    /// Print records of a topic
    Consume(ConsumeArgs),
    /// List, describe, reset and delete consumer groups
    #[command(subcommand)]
    Group(GroupCommand),
    /// Show, change and explain configs
    #[command(subcommand)]
    Config(ConfigCommand),
    /// Describe the cluster and its log directories
    #[command(subcommand)]
    Cluster(ClusterCommand),
    /// Show which core has which partition of a running broker, and move one to another
    #[command(subcommand)]
    Placement(PlacementCommand),
    /// Read and check the files of a stopped broker
    #[command(subcommand)]
    Log(LogCommand),
    /// Put a load on a broker and measure it
    Bench(Box<BenchArgs>),
    /// Check whether this host can run the broker, and how well
    Check(CheckArgs),
    /// Set what of the host makes the broker faster, and set it back
    Tune(TuneArgs),
    /// Print the script by which a shell completes these commands
    Completions(CompletionsArgs),
    /// Write manual pages of all commands
    Man(ManArgs),
}
