//! `ringlog config alter`.

use clap::Args;
use serde_json::json;

use super::resource::ResourceArgs;
use super::{ChangeArgs, alter_resource};
use crate::cli::error::CliError;
use crate::cli::output::say;
use crate::cli::session::Session;

/// Options of `config alter`.
#[derive(Debug, Args)]
pub(crate) struct AlterArgs {
    #[command(flatten)]
    resource: ResourceArgs,
    #[command(flatten)]
    change: ChangeArgs,
}

pub(crate) fn run(mut session: Session, args: &AlterArgs) -> Result<(), CliError> {
    let resource = args.resource.resource();
    alter_resource(&mut session, &resource, &args.change)?;
    let changed = !args.change.dry_run;
    let done = if changed { "changed" } else { "could be changed" };
    say(
        session.output,
        &format!("{resource}: {done}"),
        || json!({"resource": resource.to_string(), "changed": changed}),
    )?;
    Ok(())
}
