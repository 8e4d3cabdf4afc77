//! `ringlog produce`: lines of standard input as records.

mod lines;
mod sender;

use std::io::{BufRead, BufReader};

use clap::{Args, ValueEnum};
use protocol::records::Compression;

use self::lines::Lines;
use self::sender::Sender;
use super::error::CliError;
use super::session::{Session, parse_pair};

/// Options of `produce`.
#[derive(Debug, Args)]
pub(super) struct ProduceArgs {
    /// The topic's name
    topic: String,
    /// What separates key and value in a line; without it records have no key
    #[arg(long, short = 'k', value_name = "TEXT")]
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

/// Bytes read from standard input at once.
const READ_BYTES: usize = 1 << 20;
/// Longest line taken, in bytes: longer ones would hardly pass a broker's message.max.bytes.
const LINE_BYTES_MAX: u64 = 64 << 20;

pub(super) fn run(session: Session, args: &ProduceArgs) -> Result<(), CliError> {
    let mut sender = Sender::new(session, args)?;
    let lines = Lines::new(args);
    let outcome = read_lines(&lines, &mut sender);
    // Whatever stopped the reading: the lines before it are sent.
    sender.flush()?;
    outcome
}

fn read_lines(lines: &Lines<'_>, sender: &mut Sender<'_>) -> Result<(), CliError> {
    let mut input = BufReader::with_capacity(READ_BYTES, std::io::stdin().lock());
    let mut line = Vec::new();
    let mut number = 0_u64;
    loop {
        // A batch waits for more only while more has already been read: a line typed by hand is sent at once.
        if input.buffer().is_empty() {
            sender.flush()?;
        }
        line.clear();
        std::io::Read::take(&mut input, LINE_BYTES_MAX + 1).read_until(b'\n', &mut line)?;
        if line.is_empty() {
            return Ok(());
        }
        number += 1;
        if line.len() as u64 > LINE_BYTES_MAX {
            return Err(CliError::Usage(format!("line {number} is longer than {LINE_BYTES_MAX} bytes")));
        }
        let (key, value) =
            lines.split(&line).map_err(|why| CliError::Usage(format!("line {number}: {why}")))?;
        sender.add(key, value)?;
    }
}
