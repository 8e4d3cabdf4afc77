//! `ringlog placement`: which core has which partition of one running broker. One file a command.
//!
//! Kafka's protocol has no words for cores: these commands ask the broker's admin endpoint (`ringlog.admin.listen`).

mod balance;
mod balance_plan;
mod endpoint;
mod move_core;
mod show;
mod traffic;

use clap::{Args, Subcommand};

use super::args::OutputFormat;
use super::error::CliError;

/// Where to ask.
#[derive(Debug, Args)]
pub(super) struct EndpointArgs {
    /// The broker's admin endpoint, as its ringlog.admin.listen says
    #[arg(long, default_value = "127.0.0.1:9644", value_name = "HOST:PORT")]
    admin: String,
}

/// What to do with a broker's placement.
#[derive(Debug, Subcommand)]
pub(super) enum PlacementCommand {
    /// Show each partition's core, log directory and traffic, and the sums of each core
    Show(show::ShowArgs),
    /// Move a partition to another core while it serves; nothing is copied
    Move(move_core::MoveArgs),
    /// Propose the few moves that even out what the cores carry, and with --execute make them
    Balance(balance::BalanceArgs),
}

pub(super) fn run(output: OutputFormat, command: &PlacementCommand) -> Result<(), CliError> {
    match command {
        PlacementCommand::Show(args) => show::run(output, args),
        PlacementCommand::Move(args) => move_core::run(output, args),
        PlacementCommand::Balance(args) => balance::run(output, args),
    }
}
