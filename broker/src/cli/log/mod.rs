//! `ringlog log`: reading the files of a stopped broker, ours or Kafka's. Nothing here writes.

mod batches;
mod dump;
mod input;
mod lock;
#[cfg(test)]
mod tests;
mod verify;

use std::process::ExitCode;

use clap::Subcommand;

use super::args::OutputFormat;
use super::error::CliError;

/// What to do with a log directory.
#[derive(Debug, Subcommand)]
pub(super) enum LogCommand {
    /// Print what files hold: batches and records, indexes, snapshots, checkpoints, journals
    Dump(dump::DumpArgs),
    /// Check a whole log directory: exit code 1 and a list of what is wrong, if something is
    Verify(verify::VerifyArgs),
}

/// Exit code 1 if something is damaged.
pub(super) fn run(output: OutputFormat, command: LogCommand) -> Result<ExitCode, CliError> {
    let whole = match command {
        LogCommand::Dump(args) => dump::run(output, &args)?,
        LogCommand::Verify(args) => verify::run(output, &args)?,
    };
    Ok(if whole { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
