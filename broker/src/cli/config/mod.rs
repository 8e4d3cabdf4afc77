//! `ringlog config`: one file a command, and the requests they share with `ringlog topic alter`.

mod alter;
mod change;
mod describe;
mod explain;
mod request;
mod resource;

use std::io::Write;

use clap::Subcommand;

use super::args::GlobalArgs;
use super::error::CliError;
use super::session::Session;
use crate::config::reference;

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
    /// Tell what a config means, what it may be, and whether it acts here
    Explain(explain::ExplainArgs),
    /// Print all configs as a page of Markdown
    Reference,
}

/// Only the commands about a cluster connect to one.
pub(super) fn run(global: &GlobalArgs, command: ConfigCommand) -> Result<(), CliError> {
    match command {
        ConfigCommand::Describe(args) => describe::run(Session::open(global)?, &args),
        ConfigCommand::Alter(args) => alter::run(Session::open(global)?, &args),
        ConfigCommand::Explain(args) => explain::run(global.output, &args),
        ConfigCommand::Reference => {
            Ok(std::io::stdout().lock().write_all(reference::markdown().as_bytes())?)
        }
    }
}
