//! The words a scenario chooses from.

use protocol::records::Compression;
use serde::{Deserialize, Serialize};

/// Kafka's `acks`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
pub enum Acks {
    /// Nobody: sent is all there is to know.
    #[serde(rename = "0")]
    #[value(name = "0")]
    None,
    /// The partition's leader.
    #[serde(rename = "1")]
    #[value(name = "1")]
    Leader,
    /// All replicas in sync.
    #[default]
    #[serde(rename = "all")]
    #[value(name = "all", alias = "-1")]
    All,
}

impl Acks {
    /// As Produce has it.
    pub fn code(self) -> i16 {
        match self {
            Self::None => 0,
            Self::Leader => 1,
            Self::All => -1,
        }
    }
}

/// A codec by Kafka's name: none, gzip, snappy, lz4, zstd.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Codec(pub Compression);

impl TryFrom<String> for Codec {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        let codec = Compression::from_name(&name).map(Self);
        codec.ok_or_else(|| format!("{name:?} is none of none, gzip, snappy, lz4, zstd"))
    }
}

impl std::convert::From<Codec> for String {
    fn from(codec: Codec) -> Self {
        codec.0.name().into()
    }
}

impl std::str::FromStr for Codec {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        name.to_owned().try_into()
    }
}

/// Keys of records.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Keys {
    /// None: producers fill one partition's batch, then the next one's.
    #[default]
    None,
    /// Each of so many keys as often as any other.
    Uniform(u32),
    /// So many keys by Zipf's law.
    Zipf {
        /// How many.
        keys: u32,
        /// The exponent: 1 is the classic law, more is steeper.
        exponent: f64,
    },
    /// One key is hot, the others are uniform.
    Hot {
        /// How many others.
        keys: u32,
        /// The hot one's share of all records, 0 to 1.
        share: f64,
    },
}

/// Most keys: a table of them is kept.
const KEYS_MAX: u32 = 4_000_000;

impl Keys {
    pub(super) fn check(self) -> Result<(), String> {
        let (keys, sound) = match self {
            Self::None => return Ok(()),
            Self::Uniform(keys) => (keys, true),
            Self::Zipf { keys, exponent } => (keys, (0.0..=10.0).contains(&exponent)),
            Self::Hot { keys, share } => (keys, (0.0..=1.0).contains(&share)),
        };
        if sound && (1..=KEYS_MAX).contains(&keys) {
            return Ok(());
        }
        Err(format!("keys: 1 to {KEYS_MAX}, an exponent from 0 to 10, a share from 0 to 1"))
    }
}

/// Bytes of a record's value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Sizes {
    /// All alike.
    Fixed(usize),
    /// Any length between two.
    Between {
        /// The shortest.
        min: usize,
        /// The longest.
        max: usize,
    },
    /// Some lengths, each with its weight.
    Weighted(Vec<(usize, f64)>),
}

impl Sizes {
    /// The one length, if there is only one.
    pub fn fixed(&self) -> Option<usize> {
        match self {
            Self::Fixed(bytes) => Some(*bytes),
            Self::Between { min, max } => (min == max).then_some(*min),
            Self::Weighted(sizes) => match &sizes[..] {
                [(bytes, _)] => Some(*bytes),
                _ => None,
            },
        }
    }

    /// The shortest.
    pub fn min(&self) -> usize {
        match self {
            Self::Fixed(bytes) => *bytes,
            Self::Between { min, .. } => *min,
            Self::Weighted(sizes) => sizes.iter().map(|(bytes, _)| *bytes).min().unwrap_or(0),
        }
    }

    /// The longest.
    pub fn max(&self) -> usize {
        match self {
            Self::Fixed(bytes) => *bytes,
            Self::Between { max, .. } => *max,
            Self::Weighted(sizes) => sizes.iter().map(|(bytes, _)| *bytes).max().unwrap_or(0),
        }
    }

    pub(super) fn check(&self, bytes_max: usize) -> Result<(), String> {
        let sound = match self {
            Self::Fixed(_) => true,
            Self::Between { min, max } => min <= max,
            Self::Weighted(sizes) => {
                let total: f64 = sizes.iter().map(|(_, weight)| *weight).sum();
                (1..=1000).contains(&sizes.len())
                    && total > 0.0
                    && sizes.iter().all(|(_, weight)| *weight >= 0.0)
            }
        };
        if sound && self.max() <= bytes_max {
            return Ok(());
        }
        Err(format!("record_bytes: up to {bytes_max}, min not above max, weights not negative"))
    }
}

/// What values are filled with.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum Filler {
    /// Letters that compress about by half, as text does.
    #[default]
    Text,
    /// Bytes that don't compress.
    Random,
    /// Bytes that compress to nothing.
    Zeros,
}

/// How batches are made.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum Build {
    /// Every record carries its own sequence, time and checksum.
    #[default]
    Records,
    /// A batch is made once and sent again and again, with new sequence numbers, times and checksum of the
    /// batch alone: the least the client can cost.
    Prebuilt,
}

/// What verification is to prove of each acknowledged record, beside that it is unaltered and in the order sent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum Delivery {
    /// It is there once.
    #[default]
    Once,
    /// It is there, maybe again: what producers without idempotence get when they send again.
    AtLeastOnce,
}
