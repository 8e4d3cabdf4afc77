//! `ringlog topic`: one file a command.

mod add_partitions;
mod alter;
mod create;
mod delete;
mod describe;
mod list;
mod trim;

use clap::Subcommand;

use super::error::CliError;
use super::session::Session;

/// What to do with topics.
#[derive(Debug, Subcommand)]
pub(super) enum TopicCommand {
    /// Create a topic
    Create(create::CreateArgs),
    /// List topics
    List(list::ListArgs),
    /// Show partitions, replicas, offsets and configs of topics
    Describe(describe::DescribeArgs),
    /// Set and unset configs of a topic
    Alter(alter::AlterArgs),
    /// Give a topic more partitions
    AddPartitions(add_partitions::AddPartitionsArgs),
    /// Delete the oldest records of a topic
    Trim(trim::TrimArgs),
    /// Delete topics and all their records
    Delete(delete::DeleteArgs),
}

pub(super) fn run(session: Session, command: TopicCommand) -> Result<(), CliError> {
    match command {
        TopicCommand::Create(args) => create::run(session, &args),
        TopicCommand::List(args) => list::run(session, &args),
        TopicCommand::Describe(args) => describe::run(session, &args),
        TopicCommand::Alter(args) => alter::run(session, &args),
        TopicCommand::AddPartitions(args) => add_partitions::run(session, &args),
        TopicCommand::Trim(args) => trim::run(session, &args),
        TopicCommand::Delete(args) => delete::run(session, &args),
    }
}
