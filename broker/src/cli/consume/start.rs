//! Where consuming starts.

use std::collections::BTreeMap;
use std::str::FromStr;

use super::ConsumeArgs;
use crate::cli::error::CliError;
use crate::cli::offsets::{EARLIEST, LATEST, at_timestamp, committed};
use crate::cli::session::{Session, at_coordinator};
use crate::cli::time::parse_time;

/// `--from`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum From {
    Beginning,
    End,
    Offset(i64),
    /// In ms since 1970.
    Time(i64),
}

impl FromStr for From {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = |digits: &str| digits.parse::<i64>().ok().filter(|number| *number >= 0);
        match text {
            "beginning" | "earliest" => Ok(Self::Beginning),
            "end" | "latest" => Ok(Self::End),
            _ => match text.strip_prefix('@') {
                // Behind the @ a plain number is in ms since 1970, as for kcat.
                Some(time) => number(time).or_else(|| parse_time(time).ok()).map(Self::Time),
                None => number(text).map(Self::Offset),
            }
            .ok_or_else(|| "it is none of: beginning, end, an offset, @MS, @YYYY-MM-DDTHH:MM:SS".to_owned()),
        }
    }
}

/// A partition's next offset, and the end it had at the start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Position {
    pub(super) next: i64,
    pub(super) end: i64,
}

/// Where each partition that is asked for starts.
pub(super) fn positions(
    session: &mut Session,
    args: &ConsumeArgs,
) -> Result<BTreeMap<i32, Position>, CliError> {
    let mut partitions = session.partitions_of(&args.topic, false)?;
    if let Some(only) = args.partition {
        if !partitions.contains(&only) {
            let count = partitions.len();
            return Err(CliError::Usage(format!(
                "{} has {count} partitions, from 0: {only} isn't one",
                args.topic
            )));
        }
        partitions = vec![only];
    }
    let committed = match &args.group {
        Some(group) => at_coordinator(session, group, |session| committed(session, group))?,
        None => BTreeMap::new(),
    };
    let mut positions = BTreeMap::new();
    for partition in partitions {
        let end = at_timestamp(session, &args.topic, partition, LATEST)?;
        let next = match committed.get(&(args.topic.clone(), partition)) {
            Some(committed) => *committed,
            None => first(session, args, partition, end)?,
        };
        positions.insert(partition, Position { next, end });
    }
    Ok(positions)
}

fn first(session: &mut Session, args: &ConsumeArgs, partition: i32, end: i64) -> Result<i64, CliError> {
    if let Some(count) = args.tail {
        let start = at_timestamp(session, &args.topic, partition, EARLIEST)?;
        return Ok(end.saturating_sub(count).max(start));
    }
    Ok(match args.from {
        From::Beginning => at_timestamp(session, &args.topic, partition, EARLIEST)?,
        From::End => end,
        From::Offset(offset) => offset,
        // No record is that young: wait for one.
        From::Time(ms) => {
            Some(at_timestamp(session, &args.topic, partition, ms)?).filter(|at| *at >= 0).unwrap_or(end)
        }
    })
}
