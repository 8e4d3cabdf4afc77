//! The settings of a run.

use clap::{Args, ValueEnum};
use protocol::records::Compression;

use crate::LoadError;
use crate::payload::PAYLOAD_BYTES_MIN;

/// Settings of [`crate::bench`].
#[derive(Debug, Clone, Args)]
pub struct BenchArgs {
    /// Topic to use; created if it isn't there
    #[arg(long, short = 't', default_value = "ringlog-bench")]
    pub topic: String,
    /// Partitions of a topic that is created; the broker's default if not given
    #[arg(long, value_parser = clap::value_parser!(i32).range(1..))]
    pub partitions: Option<i32>,
    /// Replicas of a topic that is created; the broker's default if not given
    #[arg(long, value_parser = clap::value_parser!(i16).range(1..))]
    pub replication_factor: Option<i16>,
    /// How many records to send
    #[arg(long, short = 'n', default_value_t = 1_000_000, value_parser = clap::value_parser!(u64).range(1..=RECORDS_MAX))]
    pub records: u64,
    /// Bytes of a record's value
    #[arg(long, short = 's', default_value_t = 100)]
    pub record_bytes: usize,
    /// Bytes of a batch before compression
    #[arg(long, default_value_t = 64 * 1024, value_parser = clap::value_parser!(u32).range(1..=BATCH_BYTES_MAX))]
    pub batch_bytes: u32,
    /// Batches in flight for each partition
    #[arg(long, short = 'f', default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub in_flight: u32,
    /// Who must have a record before it counts as sent
    #[arg(long, short = 'a', value_enum, default_value_t = Acks::All)]
    pub acks: Acks,
    /// Codec of the batches
    #[arg(long, short = 'z', value_name = "none|gzip|snappy|lz4|zstd", default_value = "none", value_parser = parse_codec)]
    pub compression: Compression,
    /// Read all records back and check that each is there once, whole, in order
    #[arg(long)]
    pub verify: bool,
}

/// Most records of a run: verification keeps a bit for each.
const RECORDS_MAX: u64 = 10_000_000_000;
/// Largest batch asked for; the broker's max.message.bytes is mostly lower.
const BATCH_BYTES_MAX: i64 = 64 << 20;
/// Largest record value.
const RECORD_BYTES_MAX: usize = 64 << 20;

/// Kafka's `acks`, but for 0: without answers there is no closed loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Acks {
    /// The partition's leader
    #[value(name = "1")]
    Leader,
    /// All replicas in sync
    #[value(name = "all", alias = "-1")]
    All,
}

impl Acks {
    pub(crate) fn code(self) -> i16 {
        match self {
            Self::Leader => 1,
            Self::All => -1,
        }
    }
}

impl BenchArgs {
    /// What the parser can't check.
    pub(crate) fn check(&self) -> Result<(), LoadError> {
        if (PAYLOAD_BYTES_MIN..=RECORD_BYTES_MAX).contains(&self.record_bytes) {
            return Ok(());
        }
        Err(LoadError::Usage(format!(
            "a record has between {PAYLOAD_BYTES_MIN} and {RECORD_BYTES_MAX} bytes"
        )))
    }
}

fn parse_codec(name: &str) -> Result<Compression, String> {
    Compression::from_name(name).ok_or_else(|| format!("{name:?} is none of none, gzip, snappy, lz4, zstd"))
}
