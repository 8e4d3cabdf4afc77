//! Where offsets are set to.

use std::path::PathBuf;

use clap::Args;

use super::csv::Rows;
use crate::cli::error::CliError;
use crate::cli::time::{parse_ago, parse_time};

/// Options that say where: exactly one.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub(super) struct TargetArgs {
    /// To the oldest record
    #[arg(long)]
    to_earliest: bool,
    /// Behind the newest record
    #[arg(long)]
    to_latest: bool,
    /// To what is committed, brought into the partition's range; behind the newest record where nothing is
    #[arg(long)]
    to_current: bool,
    /// To this offset
    #[arg(long, value_name = "OFFSET", value_parser = clap::value_parser!(i64).range(0..))]
    to_offset: Option<i64>,
    /// So many records on from what is committed, or back
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    shift_by: Option<i64>,
    /// To the first record of this time or later: YYYY-MM-DDTHH:MM:SS.sss, UTC without a zone, or @MS
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    to_datetime: Option<i64>,
    /// To the first record that isn't older than this: PnDTnHnMnS, as PT2H30M
    #[arg(long, value_name = "DURATION", value_parser = parse_ago)]
    by_duration: Option<i64>,
    /// To what a CSV file says, as --export prints it
    #[arg(long, value_name = "FILE")]
    pub(super) from_file: Option<PathBuf>,
}

/// Where offsets are set to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Target {
    Earliest,
    Latest,
    Current,
    Offset(i64),
    ShiftBy(i64),
    /// In ms since 1970.
    Time(i64),
    File(Rows),
}

impl TargetArgs {
    /// What they say; reads the file, if one is named.
    pub(super) fn target(&self, groups: &[String]) -> Result<Target, CliError> {
        Ok(match self {
            Self { to_earliest: true, .. } => Target::Earliest,
            Self { to_latest: true, .. } => Target::Latest,
            Self { to_offset: Some(offset), .. } => Target::Offset(*offset),
            Self { shift_by: Some(count), .. } => Target::ShiftBy(*count),
            Self { to_datetime: Some(ms), .. } | Self { by_duration: Some(ms), .. } => Target::Time(*ms),
            Self { from_file: Some(path), .. } => {
                let fault = |why: String| CliError::Usage(format!("{}: {why}", path.display()));
                let text = std::fs::read_to_string(path).map_err(|error| fault(error.to_string()))?;
                let only = match groups {
                    [group] => Some(group.as_str()),
                    _ => None,
                };
                Target::File(Rows::parse(&text, only).map_err(fault)?)
            }
            _ => Target::Current,
        })
    }
}
