//! `ringlog topic create`.

use clap::Args;
use client::ClientError;
use client::blocking::Target;
use protocol::error::ErrorCode;
use protocol::messages::CreateTopicsRequest;
use protocol::messages::create_topics_request::{CreatableTopic, CreatableTopicConfig};
use serde_json::json;

use crate::cli::error::CliError;
use crate::cli::output::{say, topic_id};
use crate::cli::session::{Session, parse_pair};

/// Options of `topic create`.
#[derive(Debug, Args)]
pub(crate) struct CreateArgs {
    /// The topic's name
    name: String,
    /// How many partitions; the broker's num.partitions if not given
    #[arg(long, short = 'p', value_parser = clap::value_parser!(i32).range(1..))]
    partitions: Option<i32>,
    /// How many replicas of each; the broker's default.replication.factor if not given
    #[arg(long, short = 'r', value_parser = clap::value_parser!(i16).range(1..))]
    replication_factor: Option<i16>,
    /// A topic config, as retention.ms=60000; may be repeated
    #[arg(long, short = 'c', value_name = "KEY=VALUE", value_parser = parse_pair)]
    config: Vec<(String, String)>,
    /// Succeed if the topic is there already, whatever it looks like
    #[arg(long)]
    if_not_exists: bool,
}

/// Highest version filled here, and the first in which the broker has defaults.
const CREATE_MAX: i16 = 7;
const DEFAULTS_FROM: i16 = 4;
const TIMEOUT_MS: i32 = 30_000;

pub(crate) fn run(mut session: Session, args: &CreateArgs) -> Result<(), CliError> {
    let (_, answer) =
        session.client.call(Target::Controller, CREATE_MAX, |version| request(args, version))?;
    let Some(created) = answer.topics.first() else {
        return Err(ClientError::Unknown("the broker said nothing about the topic".into()).into());
    };
    let name = &args.name;
    if created.error_code == ErrorCode::TOPIC_ALREADY_EXISTS.code() && args.if_not_exists {
        say(
            session.output,
            &format!("{name} was there already"),
            || json!({"topic": name, "created": false}),
        )?;
        return Ok(());
    }
    ClientError::check(created.error_code, created.error_message.as_deref(), || format!("topic {name}"))?;
    let id = topic_id(created.topic_id);
    let json =
        || json!({"topic": name, "created": true, "topic_id": id, "partitions": created.num_partitions});
    say(session.output, &format!("created {name}"), json)?;
    Ok(())
}

fn request(args: &CreateArgs, version: i16) -> CreateTopicsRequest {
    let unset = if version >= DEFAULTS_FROM { -1 } else { 1 };
    let config = |(name, value): &(String, String)| CreatableTopicConfig {
        name: name.into(),
        value: Some(value.into()),
        ..Default::default()
    };
    let topic = CreatableTopic {
        name: (&args.name).into(),
        num_partitions: args.partitions.unwrap_or(unset),
        replication_factor: args.replication_factor.unwrap_or(unset as i16),
        configs: args.config.iter().map(config).collect(),
        ..Default::default()
    };
    CreateTopicsRequest { topics: vec![topic], timeout_ms: TIMEOUT_MS, ..Default::default() }
}
