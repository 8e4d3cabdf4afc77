//! `ringlog produce`: lines of standard input or a file as records.

mod input;
mod json;
mod lines;
mod pace;
mod sender;
#[cfg(test)]
mod tests;

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use protocol::records::Compression;

use self::input::Input;
use self::lines::Lines;
use self::pace::Pace;
use self::sender::Sender;
use super::error::CliError;
use super::session::{Session, parse_pair, sleep};

/// Options of `produce`.
#[derive(Debug, Args)]
pub(super) struct ProduceArgs {
    /// The topic's name
    topic: String,
    /// Take the records from a file instead of standard input
    #[arg(long, short = 'F', value_name = "FILE")]
    file: Option<PathBuf>,
    /// What a line is
    #[arg(long, short = 'i', value_enum, default_value_t = LineKind::Text)]
    input: LineKind,
    /// What separates key and value in a line; without it records have no key
    #[arg(long, short = 'k', value_name = "TEXT", value_parser = parse_separator)]
    key_separator: Option<String>,
    /// A header of every record; may be repeated
    #[arg(long, short = 'H', value_name = "KEY=VALUE", value_parser = parse_pair)]
    header: Vec<(String, String)>,
    /// Codec of the batches
    #[arg(long, short = 'z', value_name = "none|gzip|snappy|lz4|zstd", default_value = "none", value_parser = parse_codec)]
    compression: Compression,
    /// Who must have a record before it counts as sent: nobody, the leader, all in-sync replicas
    #[arg(long, short = 'a', value_enum, default_value_t = Acks::All)]
    acks: Acks,
    /// Partition of all records; otherwise by the key's hash, or in turns without keys
    #[arg(long, short = 'p', value_parser = clap::value_parser!(i32).range(0..))]
    partition: Option<i32>,
    /// Send lines that have no key separator without a key, instead of refusing them
    #[arg(long, requires = "key_separator")]
    key_optional: bool,
    /// Send an empty value as null: a tombstone
    #[arg(long)]
    empty_as_null: bool,
    /// Send each JSON record to the partition it names
    #[arg(long, conflicts_with = "partition")]
    keep_partition: bool,
    /// Send at most so many records a second
    #[arg(long, short = 'r', value_name = "PER_SECOND", value_parser = parse_rate)]
    rate: Option<f64>,
}

/// What a line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum LineKind {
    /// A value, or a key and a value
    Text,
    /// A record as `consume --output json` prints it: an object with value, key, headers, timestamp, partition
    Json,
}

/// A header's key and value.
type NewHeader = (Vec<u8>, Option<Vec<u8>>);

/// A record to send.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct NewRecord {
    key: Option<Vec<u8>>,
    value: Option<Vec<u8>>,
    headers: Vec<NewHeader>,
    /// Now, if it has none.
    timestamp_ms: Option<i64>,
    partition: Option<i32>,
}

/// Kafka's `acks`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Acks {
    /// Nobody
    #[value(name = "0")]
    None,
    /// The partition's leader
    #[value(name = "1")]
    Leader,
    /// All replicas in sync
    #[value(name = "all", alias = "-1")]
    All,
}

impl Acks {
    fn code(self) -> i16 {
        match self {
            Self::None => 0,
            Self::Leader => 1,
            Self::All => -1,
        }
    }
}

fn parse_codec(name: &str) -> Result<Compression, String> {
    Compression::from_name(name).ok_or_else(|| format!("{name:?} is none of none, gzip, snappy, lz4, zstd"))
}

fn parse_separator(text: &str) -> Result<String, String> {
    match text {
        "" => Err("an empty separator separates nothing: leave it out to send lines without keys".to_owned()),
        text => Ok(text.to_owned()),
    }
}

fn parse_rate(text: &str) -> Result<f64, String> {
    let rate = text.parse::<f64>().ok().filter(|rate| rate.is_finite() && *rate > 0.0);
    rate.ok_or_else(|| format!("{text:?} is no number of records a second"))
}

pub(super) fn run(session: Session, args: &ProduceArgs) -> Result<(), CliError> {
    if args.input == LineKind::Text && args.keep_partition {
        return Err(CliError::Usage("only JSON records name their partition: add --input json".into()));
    }
    if args.input == LineKind::Json && (args.key_separator.is_some() || args.empty_as_null) {
        return Err(CliError::Usage(
            "--key-separator and --empty-as-null are about text, not about --input json".into(),
        ));
    }
    let input = Input::open(args.file.as_deref())?;
    let mut sender = Sender::new(session, args)?;
    let outcome = send_lines(input, args, &mut sender);
    // Whatever stopped the reading: the lines before it are sent.
    sender.flush()?;
    outcome
}

fn send_lines(mut input: Input, args: &ProduceArgs, sender: &mut Sender<'_>) -> Result<(), CliError> {
    let lines = Lines::new(args);
    let mut pace = args.rate.map(Pace::new);
    loop {
        // A batch waits for more only while more has already been read: a line typed by hand is sent at once.
        if input.may_wait() {
            sender.flush()?;
        }
        let Some(line) = input.next_line()? else { return Ok(()) };
        let parsed = match args.input {
            LineKind::Text => lines.split(line).map_err(str::to_owned),
            LineKind::Json => json::record(line),
        };
        let mut record = parsed.map_err(|why| input.fault(why))?;
        if !args.keep_partition {
            record.partition = None;
        }
        if let Some(early) = pace.as_mut().and_then(Pace::next) {
            sender.flush()?;
            sleep(early);
        }
        sender.add(&record).map_err(|error| match error {
            CliError::Usage(why) => input.fault(why),
            other => other,
        })?;
    }
}
