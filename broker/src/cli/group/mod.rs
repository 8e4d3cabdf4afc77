//! `ringlog group`: one file a command.

mod describe;
mod list;

use clap::Subcommand;

use super::error::CliError;
use super::session::Session;

/// What to do with groups.
#[derive(Debug, Subcommand)]
pub(super) enum GroupCommand {
    /// List groups of all brokers
    List,
    /// Show members, committed offsets and lag of a group
    Describe(describe::DescribeArgs),
}

pub(super) fn run(session: Session, command: GroupCommand) -> Result<(), CliError> {
    match command {
        GroupCommand::List => list::run(session),
        GroupCommand::Describe(args) => describe::run(session, &args),
    }
}
