//! `ringlog group delete`.

use clap::Args;
use client::ClientError;
use client::blocking::Target;
use protocol::error::ErrorCode;
use protocol::messages::DeleteGroupsRequest;
use serde_json::json;

use crate::cli::error::CliError;
use crate::cli::output::say;
use crate::cli::session::{Session, all_or_last, at_coordinator};

/// Options of `group delete`.
#[derive(Debug, Args)]
pub(crate) struct DeleteArgs {
    /// The groups' ids
    #[arg(required = true, value_name = "GROUP")]
    groups: Vec<String>,
    /// Succeed where a group isn't there
    #[arg(long)]
    if_exists: bool,
}

const DELETE_MAX: i16 = 3;

pub(crate) fn run(mut session: Session, args: &DeleteArgs) -> Result<(), CliError> {
    let (mut deleted, mut failures) = (Vec::new(), Vec::new());
    for group in &args.groups {
        match at_coordinator(&mut session, group, |session| delete(session, group)) {
            Ok(()) => deleted.push(group.as_str()),
            Err(error) if args.if_exists && error.code() == Some(ErrorCode::GROUP_ID_NOT_FOUND) => {}
            Err(error) => failures.push(error),
        }
    }
    if !deleted.is_empty() {
        say(session.output, &format!("deleted {}", deleted.join(", ")), || json!({"deleted": deleted}))?;
    }
    all_or_last(failures)
}

fn delete(session: &mut Session, group: &str) -> Result<(), ClientError> {
    let (_, answer) = session.client.call(Target::Coordinator(group), DELETE_MAX, |_| {
        DeleteGroupsRequest { groups_names: vec![group.into()], ..Default::default() }
    })?;
    let found = answer.results.first();
    let found = found.ok_or_else(|| ClientError::Unknown(format!("nothing was said about group {group}")))?;
    ClientError::check(found.error_code, found.error_message.as_deref(), || format!("group {group}"))
}
