//! `ringlog topic trim`.

use clap::Args;
use client::ClientError;
use client::blocking::Target;
use protocol::messages::DeleteRecordsRequest;
use protocol::messages::delete_records_request::{DeleteRecordsPartition, DeleteRecordsTopic};
use serde_json::json;

use crate::cli::error::CliError;
use crate::cli::offsets::at_timestamp;
use crate::cli::output::{Table, print};
use crate::cli::session::Session;

/// Options of `topic trim`.
#[derive(Debug, Args)]
pub(crate) struct TrimArgs {
    /// The topic's name
    name: String,
    /// Partitions to trim; all if not given
    #[arg(long, short = 'p', value_delimiter = ',', value_name = "PARTITION[,..]")]
    partitions: Vec<i32>,
    #[command(flatten)]
    upto: UptoArgs,
    /// Only show what would go
    #[arg(long)]
    dry_run: bool,
}

/// Which records go: exactly one of these.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
struct UptoArgs {
    /// Delete the records before this offset
    #[arg(long, value_name = "OFFSET", value_parser = clap::value_parser!(i64).range(0..))]
    before_offset: Option<i64>,
    /// Delete the records before the first one of this time or later, in ms since 1970
    #[arg(long, value_name = "MS", value_parser = clap::value_parser!(i64).range(0..))]
    before_time: Option<i64>,
    /// Delete all records
    #[arg(long)]
    all: bool,
}

/// Highest version filled here.
const DELETE_RECORDS_MAX: i16 = 2;
const TIMEOUT_MS: i32 = 30_000;
/// DeleteRecords' word for all records that consumers may read.
const ALL: i64 = -1;

struct Trimmed {
    partition: i32,
    upto: i64,
    /// None if nothing was done.
    start: Option<i64>,
}

pub(crate) fn run(mut session: Session, args: &TrimArgs) -> Result<(), CliError> {
    let name = args.name.as_str();
    let known = session.partitions_of(name, false)?;
    let wanted = if args.partitions.is_empty() { known.clone() } else { args.partitions.clone() };
    if let Some(unknown) = wanted.iter().find(|partition| !known.contains(partition)) {
        return Err(CliError::Usage(format!("{name} has no partition {unknown}")));
    }
    let mut all = Vec::new();
    for partition in wanted {
        let upto = upto(&mut session, args, partition)?;
        let start = if args.dry_run { None } else { Some(trim(&mut session, name, partition, upto)?) };
        all.push(Trimmed { partition, upto, start });
    }
    let table = || {
        let mut table = Table::new(&["PARTITION", "BEFORE", "START"]);
        for Trimmed { partition, upto, start } in &all {
            let before = if *upto == ALL { "end".into() } else { upto.to_string() };
            let start = start.map_or_else(|| "(dry run)".into(), |start| start.to_string());
            table.row(vec![partition.to_string(), before, start]);
        }
        table
    };
    let one = |Trimmed { partition, upto, start }: &Trimmed| {
        let before = (*upto != ALL).then_some(*upto);
        json!({"partition": partition, "before_offset": before, "start_offset": start})
    };
    print(session.output, table, || all.iter().map(one).collect())?;
    Ok(())
}

/// The first offset to keep.
fn upto(session: &mut Session, args: &TrimArgs, partition: i32) -> Result<i64, CliError> {
    if let Some(offset) = args.upto.before_offset {
        return Ok(offset);
    }
    match args.upto.before_time {
        // Without a record of that time or later all of them are older.
        Some(time_ms) => Ok(at_timestamp(session, &args.name, partition, time_ms)?),
        None => Ok(ALL),
    }
}

/// Deletes, and gives where the partition starts then.
fn trim(session: &mut Session, name: &str, partition: i32, offset: i64) -> Result<i64, CliError> {
    let target = Target::Leader(name, partition);
    let (_, answer) = session.client.call(target, DELETE_RECORDS_MAX, |_| DeleteRecordsRequest {
        topics: vec![DeleteRecordsTopic {
            name: name.into(),
            partitions: vec![DeleteRecordsPartition {
                partition_index: partition,
                offset,
                ..Default::default()
            }],
            ..Default::default()
        }],
        timeout_ms: TIMEOUT_MS,
        ..Default::default()
    })?;
    let result = answer.topics.first().and_then(|topic| topic.partitions.first());
    let result =
        result.ok_or_else(|| ClientError::Unknown(format!("nothing was said about {name}-{partition}")))?;
    ClientError::check(result.error_code, None, || format!("{name}-{partition}"))?;
    Ok(result.low_watermark)
}
