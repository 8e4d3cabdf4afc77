//! `ringlog topic alter`.

use clap::Args;
use serde_json::json;

use crate::cli::config::{ChangeArgs, Resource, alter_resource};
use crate::cli::error::CliError;
use crate::cli::output::say;
use crate::cli::session::Session;

/// Options of `topic alter`.
#[derive(Debug, Args)]
pub(crate) struct AlterArgs {
    /// The topic's name
    name: String,
    #[command(flatten)]
    change: ChangeArgs,
}

pub(crate) fn run(mut session: Session, args: &AlterArgs) -> Result<(), CliError> {
    alter_resource(&mut session, &Resource::Topic(args.name.clone()), &args.change)?;
    let name = &args.name;
    let altered = !args.change.dry_run;
    let line = if altered { format!("altered {name}") } else { format!("{name} could be altered") };
    say(session.output, &line, || json!({"topic": name, "altered": altered}))?;
    Ok(())
}
