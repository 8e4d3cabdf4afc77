//! `ringlog cluster`: one file a command.

mod describe;
mod features;
mod log_dirs;
mod quorum;

use clap::Subcommand;

use super::error::CliError;
use super::session::Session;

/// What to ask a cluster as a whole.
#[derive(Debug, Subcommand)]
pub(super) enum ClusterCommand {
    /// Show id, controller, brokers, features and the metadata quorum
    Describe,
    /// Show the brokers' log directories and what is in them
    LogDirs(log_dirs::LogDirsArgs),
}

pub(super) fn run(session: Session, command: ClusterCommand) -> Result<(), CliError> {
    match command {
        ClusterCommand::Describe => describe::run(session),
        ClusterCommand::LogDirs(args) => log_dirs::run(session, &args),
    }
}
