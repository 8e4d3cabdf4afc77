//! One load by flags.

use clap::Args;

use super::args::CommonArgs;
use super::parse;
use crate::scenario::{
    Acks, Build, Codec, ConsumeSpec, Delivery, Filler, From, Keys, Line, ProduceSpec, RampSpec, Scenario,
    Sizes, TopicSpec,
};

/// `run`: one load.
#[derive(Debug, Clone, Args)]
pub struct RunArgs {
    /// Topic to use, created if it isn't there and kept [default: a fresh one, deleted afterwards]
    #[arg(long, short = 't')]
    topic: Option<String>,
    /// Partitions of a topic that is created; 0 for the broker's default
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(i32).range(0..))]
    partitions: i32,
    /// Replicas of a topic that is created; 0 for the broker's default
    #[arg(long, default_value_t = 0, value_parser = clap::value_parser!(i16).range(0..))]
    replication_factor: i16,
    /// Producers
    #[arg(long, short = 'p', default_value_t = 1)]
    producers: u32,
    /// Consumers, each group
    #[arg(long, short = 'c', default_value_t = 0)]
    consumers: u32,
    /// Consumer groups, each of which reads everything; 0 for consumers without one
    #[arg(long, default_value_t = 0)]
    groups: u32,
    /// How many records to send [default: 1000000, or without end if --duration is given]
    #[arg(long, short = 'n')]
    records: Option<u64>,
    /// How long to measure, in s [default: until all records are sent]
    #[arg(long, short = 'd', value_name = "S")]
    duration: Option<f64>,
    /// Load before that, in s [default: 1 with --duration, else 0]
    #[arg(long, value_name = "S")]
    warmup: Option<f64>,
    /// Records a second, latency counted from the intended send time; 0 sends as fast as acknowledgements come
    #[arg(long, short = 'r', default_value_t = 0.0)]
    rate: f64,
    /// Looks for the highest rate that keeps the 99th percentile under this, from --rate on
    #[arg(long, value_name = "MS")]
    p99_max: Option<f64>,
    /// Bytes of a record's value: 100, 50-200, or lengths with weights as 100=70,4000=30
    #[arg(long, short = 's', default_value = "100", value_parser = parse::sizes)]
    record_bytes: Sizes,
    /// Bytes of a batch before compression
    #[arg(long, default_value_t = 64 * 1024)]
    batch_bytes: u32,
    /// Bytes of a request
    #[arg(long, default_value_t = 1024 * 1024)]
    request_bytes: u32,
    /// How long a record waits for others, in ms
    #[arg(long, default_value_t = 0.0, value_name = "MS")]
    linger: f64,
    /// Requests in flight, each connection
    #[arg(long, short = 'f', default_value_t = 5)]
    in_flight: u32,
    /// Who must have a record before it counts as sent
    #[arg(long, short = 'a', value_enum, default_value_t = Acks::All)]
    acks: Acks,
    /// Idempotent producers
    #[arg(long)]
    idempotent: bool,
    /// Transactions of idempotent producers, each committed after so many ms; needs a broker that has them
    #[arg(long, default_value_t = 0.0, value_name = "MS")]
    transaction_ms: f64,
    /// Codec of the batches
    #[arg(long, short = 'z', value_name = "none|gzip|snappy|lz4|zstd", default_value = "none")]
    compression: Codec,
    /// Keys: none, uniform:KEYS, zipf:KEYS[:EXPONENT], hot:KEYS[:SHARE]
    #[arg(long, default_value = "none", value_parser = parse::keys)]
    keys: Keys,
    /// What values are filled with
    #[arg(long, value_enum, default_value_t = Filler::Text)]
    filler: Filler,
    /// Sends prebuilt batches again and again: the least the client can cost
    #[arg(long)]
    prebuilt: bool,
    /// Consumers read only what is committed
    #[arg(long)]
    read_committed: bool,
    /// Where consumers begin
    #[arg(long, value_enum, default_value_t = From::Start)]
    from: From,
    /// Bytes of a fetch
    #[arg(long, default_value_t = 50 << 20)]
    fetch_bytes: u32,
    /// Bytes of a partition in a fetch
    #[arg(long, default_value_t = 1 << 20)]
    partition_fetch_bytes: u32,
    /// Bytes for which the broker waits
    #[arg(long, default_value_t = 1)]
    fetch_min_bytes: u32,
    /// How long it waits for them, in ms
    #[arg(long, default_value_t = 500, value_name = "MS")]
    fetch_wait: u32,
    /// Reads all records back and proves that each that was acknowledged is there once (or at least once), unaltered and in order
    #[arg(long, value_enum, num_args = 0..=1, default_missing_value = "once", value_name = "DELIVERY")]
    verify: Option<Delivery>,
    #[command(flatten)]
    pub(super) common: CommonArgs,
}

/// Records of a run that says neither how many nor how long.
const RECORDS: u64 = 1_000_000;
/// Longest run that says how many and not how long, in s: a day.
const DURATION_MAX_S: f64 = 86_400.0;
/// First rate of a ramp that names none.
const RAMP_START_PER_S: f64 = 10_000.0;

impl RunArgs {
    /// As a scenario of one line.
    pub(super) fn scenario(&self) -> Scenario {
        let records = match (self.records, self.duration, self.p99_max) {
            (Some(records), _, _) => records,
            (None, None, None) => RECORDS,
            _ => 0,
        };
        let warmup_s =
            self.warmup.unwrap_or(if self.duration.is_some() || self.p99_max.is_some() { 1.0 } else { 0.0 });
        let start_per_s = if self.rate > 0.0 { self.rate } else { RAMP_START_PER_S };
        let produce = ProduceSpec {
            producers: self.producers,
            records,
            rate_per_s: self.rate,
            acks: self.acks,
            idempotent: self.idempotent || self.transaction_ms > 0.0,
            transaction_ms: self.transaction_ms,
            compression: self.compression,
            linger_ms: self.linger,
            batch_bytes: self.batch_bytes,
            request_bytes: self.request_bytes,
            in_flight: self.in_flight,
            keys: self.keys,
            record_bytes: self.record_bytes.clone(),
            filler: self.filler,
            build: if self.prebuilt { Build::Prebuilt } else { Build::Records },
            ..ProduceSpec::default()
        };
        let consume = ConsumeSpec {
            consumers: self.consumers,
            groups: self.groups,
            from: self.from,
            read_committed: self.read_committed,
            fetch_bytes: self.fetch_bytes,
            partition_fetch_bytes: self.partition_fetch_bytes,
            fetch_min_bytes: self.fetch_min_bytes,
            fetch_wait_ms: self.fetch_wait,
            ..ConsumeSpec::default()
        };
        Scenario::of_line(Line {
            topic: TopicSpec {
                name: self.topic.clone().unwrap_or_default(),
                partitions: self.partitions,
                replication: self.replication_factor,
                keep: self.topic.is_some(),
                ..TopicSpec::default()
            },
            produce: (self.producers > 0).then_some(produce),
            consume: (self.consumers > 0).then_some(consume),
            warmup_s,
            duration_s: self.duration.unwrap_or(DURATION_MAX_S),
            ramp: self.p99_max.map(|p99_max_ms| RampSpec { p99_max_ms, start_per_s, ..RampSpec::default() }),
            verify: self.verify,
            ..Line::default()
        })
    }
}
