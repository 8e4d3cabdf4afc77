//! `ringlog consume`: records of a topic on standard output.

mod fetcher;
mod format;
mod start;
#[cfg(test)]
mod tests;

use std::io::{BufWriter, Write};

use clap::Args;
use client::ClientError;
use client::blocking::Target;
use protocol::messages::OffsetCommitRequest;
use protocol::messages::offset_commit_request::{OffsetCommitRequestPartition, OffsetCommitRequestTopic};

use self::fetcher::Fetcher;
use self::format::Format;
use self::start::From;
use super::args::OutputFormat;
use super::error::CliError;
use super::session::{Session, at_coordinator};

/// Options of `consume`.
#[derive(Debug, Args)]
pub(super) struct ConsumeArgs {
    /// The topic's name
    topic: String,
    /// Where to start: beginning, end, an offset, or @MS for a time in ms since 1970
    #[arg(long, short = 'f', default_value = "end", value_name = "beginning|end|OFFSET|@MS")]
    from: From,
    /// Stop after so many records
    #[arg(long, short = 'n', value_name = "N")]
    max_messages: Option<u64>,
    /// Stop at the end that the partitions have now
    #[arg(long)]
    exit_at_end: bool,
    /// Only this partition
    #[arg(long, short = 'p', value_parser = clap::value_parser!(i32).range(0..))]
    partition: Option<i32>,
    /// Start where this group has committed, and commit what was printed. All partitions are read: the
    /// group's members, if any, aren't joined
    #[arg(long, short = 'g')]
    group: Option<String>,
    /// How to print a record: %t topic, %p partition, %o offset, %T timestamp, %k key, %v value, %h headers,
    /// \n \t \\ %%
    #[arg(long, default_value = "%v\\n")]
    format: Format,
}

const COMMIT_MAX: i16 = 8;

pub(super) fn run(mut session: Session, args: &ConsumeArgs) -> Result<(), CliError> {
    let positions = start::positions(&mut session, args)?;
    let format = if session.output == OutputFormat::Json { &Format::json() } else { &args.format };
    let mut out = BufWriter::new(std::io::stdout().lock());
    let mut fetcher = Fetcher::new(&args.topic, positions);
    let mut left = args.max_messages.unwrap_or(u64::MAX);
    while left > 0 && !(args.exit_at_end && fetcher.is_at_end()) {
        let records = fetcher.next(&mut session, left)?;
        if records.is_empty() {
            continue;
        }
        left -= records.len() as u64;
        for (partition, record) in &records {
            format.write(&args.topic, *partition, record, &mut out)?;
        }
        out.flush()?;
        // After printing: a record is printed twice rather than never.
        if let Some(group) = &args.group {
            commit(&mut session, group, &args.topic, fetcher.positions())?;
        }
    }
    Ok(())
}

/// Commits as a consumer outside the group's generations, which a group with live members refuses.
fn commit(
    session: &mut Session,
    group: &str,
    topic: &str,
    positions: impl Iterator<Item = (i32, i64)>,
) -> Result<(), CliError> {
    let partitions = positions.map(|(partition_index, committed_offset)| OffsetCommitRequestPartition {
        partition_index,
        committed_offset,
        committed_metadata: Some("".into()),
        ..Default::default()
    });
    let topic = OffsetCommitRequestTopic {
        name: topic.into(),
        partitions: partitions.collect(),
        ..Default::default()
    };
    let request = OffsetCommitRequest {
        group_id: group.into(),
        generation_id_or_member_epoch: -1,
        topics: vec![topic],
        ..Default::default()
    };
    at_coordinator(session, group, |session| {
        let (_, answer) = session.client.call(Target::Coordinator(group), COMMIT_MAX, |_| request.clone())?;
        let mut partitions = answer.topics.iter().flat_map(|topic| &topic.partitions);
        partitions.try_for_each(|partition| {
            ClientError::check(partition.error_code, None, || format!("committing for group {group}"))
        })
    })?;
    Ok(())
}
