//! `ringlog placement move`.

use clap::Args;
use serde_json::{Value, json};

use super::{EndpointArgs, endpoint};
use crate::cli::args::OutputFormat;
use crate::cli::error::CliError;
use crate::cli::output::say;

/// Options of `placement move`.
#[derive(Debug, Args)]
pub(crate) struct MoveArgs {
    /// Which partition
    #[arg(value_name = "TOPIC-PARTITION")]
    partition: String,
    /// To which core, counted from 0 in the order of the broker's --cores
    core: u16,
    #[command(flatten)]
    endpoint: EndpointArgs,
}

pub(super) fn run(output: OutputFormat, args: &MoveArgs) -> Result<(), CliError> {
    let split = args.partition.rsplit_once('-');
    let named = split.and_then(|(topic, number)| Some((topic, number.parse::<u16>().ok()?)));
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    let Some((topic, number)) = named.filter(|(topic, _)| !topic.is_empty() && topic.chars().all(is_plain))
    else {
        return Err(CliError::Usage(format!(
            "{:?} isn't a partition: TOPIC-NUMBER is, orders-3 say",
            args.partition
        )));
    };
    let core = args.core;
    let is_remembered = ask_to_move(&args.endpoint, topic, number.into(), core)?;
    let line = told(topic, number.into(), core, is_remembered);
    say(
        output,
        &line,
        || json!({"topic": topic, "partition": number, "core": core, "remembered": is_remembered}),
    )?;
    Ok(())
}

/// Moves a partition; back when it is there. Whether the place is also written down for the next start.
///
/// # Errors
/// The broker's refusal.
pub(super) fn ask_to_move(
    endpoint: &EndpointArgs,
    topic: &str,
    partition: i32,
    core: u16,
) -> Result<bool, CliError> {
    let target = format!("/placement/move?topic={topic}&partition={partition}&core={core}");
    let answer = endpoint::ask(&endpoint.admin, "POST", &target)?;
    Ok(answer.get("remembered") == Some(&Value::Bool(true)))
}

/// The line that tells of a move.
pub(super) fn told(topic: &str, partition: i32, core: u16, is_remembered: bool) -> String {
    let mut line = format!("{topic}-{partition} is on core {core}");
    if !is_remembered {
        line +=
            ", but that couldn't be written down: after a restart it may be elsewhere (see the broker's log)";
    }
    line
}
