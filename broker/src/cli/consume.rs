//! `ringlog consume`: records of a topic on standard output.

mod fetcher;
mod format;
mod start;
#[cfg(test)]
mod tests;

use std::io::{BufWriter, Write};

use clap::Args;
use client::ClientError;

use self::fetcher::Fetcher;
use self::format::Format;
use self::start::From;
use super::args::OutputFormat;
use super::error::CliError;
use super::offsets::commit;
use super::session::{Session, at_coordinator};

/// Options of `consume`.
#[derive(Debug, Args)]
pub(super) struct ConsumeArgs {
    /// The topic's name
    topic: String,
    /// Where to start: beginning, end, an offset, or a time: @MS since 1970, or @YYYY-MM-DDTHH:MM:SS, UTC if no zone
    /// is behind it
    #[arg(long, short = 'f', default_value = "end", value_name = "beginning|end|OFFSET|@TIME")]
    from: From,
    /// Start so many offsets before the end of each partition
    #[arg(long, short = 't', value_name = "N", conflicts_with = "from", value_parser = clap::value_parser!(i64).range(0..))]
    tail: Option<i64>,
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
    /// How to print a record: %t topic, %p partition, %o offset, %T timestamp, %k key, %v or %s value,
    /// %K and %S their lengths in bytes (-1 for null), %h headers, \n \t \0 \\ %%
    #[arg(long, default_value = "%v\\n")]
    format: Format,
}

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
            let offsets = fetcher.positions();
            let offsets = offsets.map(|(partition, next)| ((args.topic.clone(), partition), next)).collect();
            let refused = at_coordinator(&mut session, group, |session| commit(session, group, &offsets))?;
            if let Some(((topic, partition), code)) = refused.first_key_value() {
                let what = || format!("committing {topic}-{partition} for group {group}");
                ClientError::check(code.code(), None, what)?;
            }
        }
    }
    Ok(())
}
