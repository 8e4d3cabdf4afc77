//! `ringlog topic add-partitions`.

use clap::Args;
use client::ClientError;
use client::blocking::Target;
use protocol::messages::CreatePartitionsRequest;
use protocol::messages::create_partitions_request::CreatePartitionsTopic;
use serde_json::json;

use crate::cli::error::CliError;
use crate::cli::output::say;
use crate::cli::session::Session;

/// Options of `topic add-partitions`.
#[derive(Debug, Args)]
pub(crate) struct AddPartitionsArgs {
    /// The topic's name
    name: String,
    /// How many partitions it is to have then; keys go to other partitions than before
    #[arg(long, short = 't', value_name = "COUNT", value_parser = clap::value_parser!(i32).range(1..))]
    to: i32,
    /// Only check whether it could be done
    #[arg(long)]
    dry_run: bool,
}

/// Highest version filled here.
const CREATE_PARTITIONS_MAX: i16 = 3;
const TIMEOUT_MS: i32 = 30_000;

pub(crate) fn run(mut session: Session, args: &AddPartitionsArgs) -> Result<(), CliError> {
    let (name, count) = (&args.name, args.to);
    let (_, answer) =
        session.client.call(Target::Controller, CREATE_PARTITIONS_MAX, |_| CreatePartitionsRequest {
            topics: vec![CreatePartitionsTopic {
                name: name.into(),
                count,
                assignments: None,
                ..Default::default()
            }],
            timeout_ms: TIMEOUT_MS,
            validate_only: args.dry_run,
            ..Default::default()
        })?;
    for result in &answer.results {
        ClientError::check(result.error_code, result.error_message.as_deref(), || format!("topic {name}"))?;
    }
    let does = if args.dry_run { "could have" } else { "has" };
    say(
        session.output,
        &format!("{name} {does} {count} partitions"),
        || json!({"topic": name, "partitions": count, "changed": !args.dry_run}),
    )?;
    Ok(())
}
