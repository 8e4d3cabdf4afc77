//! `ringlog log`: the files of a stopped broker, ours or Kafka's: read, checked, mended and taken over.

mod adopt;
mod batches;
mod change;
mod dump;
mod input;
mod lock;
mod repair;
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
    /// Mend what `verify` finds: prints what it would do, and does it with --execute; what goes is kept beside
    Repair(repair::RepairArgs),
    /// Take over the log directories of a stopped Apache Kafka: topics, records, configs, group offsets
    Adopt(adopt::AdoptArgs),
}

/// Exit code 1 if something is damaged.
pub(super) fn run(output: OutputFormat, command: LogCommand) -> Result<ExitCode, CliError> {
    let whole = match command {
        LogCommand::Dump(args) => dump::run(output, &args)?,
        LogCommand::Verify(args) => verify::run(output, &args)?,
        LogCommand::Repair(args) => repair::run(output, &args)?,
        LogCommand::Adopt(args) => adopt::run(output, &args).map(|()| true)?,
    };
    Ok(if whole { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
