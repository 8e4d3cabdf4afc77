//! `ringlog topic delete`.

use clap::Args;
use client::ClientError;
use client::blocking::Target;
use protocol::error::ErrorCode;
use protocol::messages::DeleteTopicsRequest;
use serde_json::json;

use crate::cli::error::CliError;
use crate::cli::output::say;
use crate::cli::session::{Session, all_or_last};

/// Options of `topic delete`.
#[derive(Debug, Args)]
pub(crate) struct DeleteArgs {
    /// The topics' names
    #[arg(required = true)]
    names: Vec<String>,
    /// Succeed where a topic isn't there
    #[arg(long)]
    if_exists: bool,
}

/// Highest version by names alone.
const DELETE_MAX: i16 = 5;
const TIMEOUT_MS: i32 = 30_000;

pub(crate) fn run(mut session: Session, args: &DeleteArgs) -> Result<(), CliError> {
    let names = || args.names.iter().map(Into::into).collect();
    let (_, answer) = session.client.call(Target::Controller, DELETE_MAX, |_| DeleteTopicsRequest {
        topic_names: names(),
        timeout_ms: TIMEOUT_MS,
        ..Default::default()
    })?;
    let (mut deleted, mut failures) = (Vec::new(), Vec::new());
    for topic in &answer.responses {
        let name = topic.name.as_deref().unwrap_or_default();
        if args.if_exists && topic.error_code == ErrorCode::UNKNOWN_TOPIC_OR_PARTITION.code() {
            continue;
        }
        let what = || format!("topic {name}");
        match ClientError::check(topic.error_code, topic.error_message.as_deref(), what) {
            Ok(()) => deleted.push(name),
            Err(failure) => failures.push(failure),
        }
    }
    if !deleted.is_empty() {
        say(session.output, &format!("deleted {}", deleted.join(", ")), || json!({"deleted": deleted}))?;
    }
    all_or_last(failures)
}
