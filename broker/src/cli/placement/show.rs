//! `ringlog placement show`.

use std::collections::BTreeMap;
use std::io::Write;
use std::time::Duration;

use clap::Args;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{EndpointArgs, endpoint};
use crate::cli::args::OutputFormat;
use crate::cli::error::CliError;
use crate::cli::output::Table;

/// Options of `placement show`.
#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    /// Over how many seconds from now on the traffic is measured; 0 tells the averages since each partition is on its core
    #[arg(long, default_value_t = 1, value_name = "SECONDS")]
    seconds: u64,
    #[command(flatten)]
    endpoint: EndpointArgs,
}

/// What the endpoint tells.
#[derive(Debug, Deserialize)]
struct Told {
    cores: u16,
    silent: Vec<u16>,
    at_ms: i64,
    partitions: Vec<Partition>,
}

#[derive(Debug, Clone, Deserialize)]
struct Partition {
    topic: String,
    partition: i32,
    core: u16,
    dir: Option<String>,
    on_purpose: bool,
    since_ms: i64,
    #[serde(flatten)]
    counts: Counts,
}

/// Records and bytes in and out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
struct Counts {
    records_in: u64,
    bytes_in: u64,
    records_out: u64,
    bytes_out: u64,
}

/// The same a second.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Rates {
    records_in: f64,
    bytes_in: f64,
    records_out: f64,
    bytes_out: f64,
}

impl Rates {
    fn between(before: Counts, after: Counts, ms: i64) -> Self {
        let rate = |before: u64, after: u64| after.saturating_sub(before) as f64 * 1_000.0 / ms.max(1) as f64;
        Self {
            records_in: rate(before.records_in, after.records_in),
            bytes_in: rate(before.bytes_in, after.bytes_in),
            records_out: rate(before.records_out, after.records_out),
            bytes_out: rate(before.bytes_out, after.bytes_out),
        }
    }

    fn add(&mut self, other: &Self) {
        self.records_in += other.records_in;
        self.bytes_in += other.bytes_in;
        self.records_out += other.records_out;
        self.bytes_out += other.bytes_out;
    }

    fn cells(&self) -> [String; 4] {
        [self.bytes_in, self.records_in, self.bytes_out, self.records_out].map(|rate| format!("{rate:.0}"))
    }

    fn as_json(&self) -> Value {
        json!({
            "bytes_in": self.bytes_in, "records_in": self.records_in, "bytes_out": self.bytes_out,
            "records_out": self.records_out,
        })
    }
}

/// A core's partitions together.
#[derive(Debug, Clone, Default)]
struct Core {
    partitions: usize,
    rates: Rates,
}

pub(super) fn run(output: OutputFormat, args: &ShowArgs) -> Result<(), CliError> {
    let before = if args.seconds > 0 { Some(ask(args)?) } else { None };
    pause(args.seconds);
    let told = ask(args)?;
    if !told.silent.is_empty() {
        eprintln!("ringlog: cores {:?} didn't answer in time: their partitions are missing", told.silent);
    }
    let rates = rates(before.as_ref(), &told);
    let cores = cores(&told, &rates);
    let mut out = std::io::stdout().lock();
    match output {
        OutputFormat::Table => {
            partitions_table(&told, &rates).write(&mut out)?;
            writeln!(out)?;
            cores_table(&cores).write(&mut out)?;
        }
        OutputFormat::Json => writeln!(out, "{:#}", as_json(&told, &rates, &cores))?,
    }
    Ok(())
}

#[allow(clippy::disallowed_methods, reason = "the command's own thread")]
fn pause(seconds: u64) {
    std::thread::sleep(Duration::from_secs(seconds));
}

fn ask(args: &ShowArgs) -> Result<Told, CliError> {
    let told = endpoint::ask(&args.endpoint.admin, "GET", "/placement")?;
    serde_json::from_value(told)
        .map_err(|error| CliError::Refused(format!("the broker's answer can't be read: {error}")))
}

/// Of each partition: since `before`, or since it is on its core where that is later.
fn rates(before: Option<&Told>, told: &Told) -> Vec<Rates> {
    let key = |one: &Partition| (one.topic.clone(), one.partition, one.core, one.since_ms);
    let earlier: BTreeMap<_, Counts> =
        before.iter().flat_map(|before| &before.partitions).map(|one| (key(one), one.counts)).collect();
    let rate = |one: &Partition| match (before, earlier.get(&key(one))) {
        (Some(before), Some(counts)) => Rates::between(*counts, one.counts, told.at_ms - before.at_ms),
        _ => Rates::between(Counts::default(), one.counts, told.at_ms - one.since_ms),
    };
    told.partitions.iter().map(rate).collect()
}

fn cores(told: &Told, rates: &[Rates]) -> Vec<Core> {
    let mut cores = vec![Core::default(); usize::from(told.cores)];
    for (one, rates) in told.partitions.iter().zip(rates) {
        if let Some(core) = cores.get_mut(usize::from(one.core)) {
            core.partitions += 1;
            core.rates.add(rates);
        }
    }
    cores
}

const TRAFFIC: [&str; 4] = ["BYTES-IN/S", "RECORDS-IN/S", "BYTES-OUT/S", "RECORDS-OUT/S"];

fn partitions_table(told: &Told, rates: &[Rates]) -> Table {
    let mut table =
        Table::new(&[&["TOPIC", "PARTITION", "CORE", "PLACED"], &TRAFFIC[..], &["DIRECTORY"]].concat());
    for (one, rates) in told.partitions.iter().zip(rates) {
        let placed = if one.on_purpose { "on purpose" } else { "by count" };
        let mut row =
            vec![one.topic.clone(), one.partition.to_string(), one.core.to_string(), placed.to_owned()];
        row.extend(rates.cells());
        row.push(one.dir.clone().unwrap_or_else(|| "offline".to_owned()));
        table.row(row);
    }
    table
}

fn cores_table(cores: &[Core]) -> Table {
    let mut table = Table::new(&[&["CORE", "PARTITIONS"], &TRAFFIC[..]].concat());
    for (number, core) in cores.iter().enumerate() {
        let mut row = vec![number.to_string(), core.partitions.to_string()];
        row.extend(core.rates.cells());
        table.row(row);
    }
    table
}

fn as_json(told: &Told, rates: &[Rates], cores: &[Core]) -> Value {
    let partitions = told.partitions.iter().zip(rates).map(|(one, rates)| {
        let Counts { records_in, bytes_in, records_out, bytes_out } = one.counts;
        json!({
            "topic": one.topic, "partition": one.partition, "core": one.core, "dir": one.dir, "on_purpose": one.on_purpose,
            "since_ms": one.since_ms, "per_second": rates.as_json(), "records_in": records_in, "bytes_in": bytes_in,
            "records_out": records_out, "bytes_out": bytes_out,
        })
    });
    let cores = cores.iter().enumerate().map(|(number, core)| {
        json!({"core": number, "partitions": core.partitions, "per_second": core.rates.as_json()})
    });
    json!({"partitions": partitions.collect::<Vec<_>>(), "cores": cores.collect::<Vec<_>>(), "silent": told.silent})
}
