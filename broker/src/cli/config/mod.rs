//! `ringlog config`: one file a command, and the requests they share with `ringlog topic alter`.

mod alter;
mod change;
mod describe;
mod request;
mod resource;

use clap::Subcommand;

use super::error::CliError;
use super::session::Session;

pub(super) use change::ChangeArgs;
pub(super) use request::alter as alter_resource;
pub(super) use resource::Resource;

/// What to do with configs.
#[derive(Debug, Subcommand)]
pub(super) enum ConfigCommand {
    /// Show configs of a topic, broker, group or client metrics subscription
    Describe(describe::DescribeArgs),
    /// Set and unset configs of one
    Alter(alter::AlterArgs),
}

pub(super) fn run(session: Session, command: ConfigCommand) -> Result<(), CliError> {
    match command {
        ConfigCommand::Describe(args) => describe::run(session, &args),
        ConfigCommand::Alter(args) => alter::run(session, &args),
    }
}
