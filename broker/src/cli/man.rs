//! `ringlog man`: manual pages of all commands.

use std::path::PathBuf;

use clap::{Args, CommandFactory};

use super::Cli;
use super::error::CliError;

/// Options of `man`.
#[derive(Debug, Args)]
pub(super) struct ManArgs {
    /// Where to write them, as ringlog.1, ringlog-topic.1 and so on; made if need be
    dir: PathBuf,
}

#[expect(clippy::disallowed_methods, reason = "runs on the command line's own thread, never on a shard")]
pub(super) fn run(args: &ManArgs) -> Result<(), CliError> {
    let fault = |error: std::io::Error| CliError::Refused(format!("{}: {error}", args.dir.display()));
    std::fs::create_dir_all(&args.dir).map_err(fault)?;
    clap_mangen::generate_to(Cli::command(), &args.dir).map_err(fault)
}
