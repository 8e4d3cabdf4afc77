//! `ringlog group`: one file a command.

mod all;
mod delete;
mod delete_offsets;
mod describe;
mod list;
mod reset_offsets;
#[cfg(test)]
mod tests;
mod topics;

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
    /// Set committed offsets of groups that nobody is in; shows what it would do unless told to do it
    ResetOffsets(Box<reset_offsets::ResetArgs>),
    /// Forget committed offsets of a group
    DeleteOffsets(delete_offsets::DeleteOffsetsArgs),
    /// Delete groups that nobody is in, with their offsets
    Delete(delete::DeleteArgs),
}

pub(super) fn run(session: Session, command: GroupCommand) -> Result<(), CliError> {
    match command {
        GroupCommand::List => list::run(session),
        GroupCommand::Describe(args) => describe::run(session, &args),
        GroupCommand::ResetOffsets(args) => reset_offsets::run(session, &args),
        GroupCommand::DeleteOffsets(args) => delete_offsets::run(session, &args),
        GroupCommand::Delete(args) => delete::run(session, &args),
    }
}
