//! What partitions and cores carry, measured by asking the endpoint twice.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};

use super::{EndpointArgs, endpoint};
use crate::cli::error::CliError;

/// What the endpoint tells.
#[derive(Debug, Deserialize)]
pub(super) struct Told {
    pub(super) cores: u16,
    pub(super) silent: Vec<u16>,
    pub(super) at_ms: i64,
    pub(super) partitions: Vec<Partition>,
}

#[derive(Debug, Clone, Deserialize)]
pub(super) struct Partition {
    pub(super) topic: String,
    pub(super) partition: i32,
    pub(super) core: u16,
    pub(super) dir: Option<String>,
    pub(super) on_purpose: bool,
    pub(super) since_ms: i64,
    #[serde(flatten)]
    pub(super) counts: Counts,
}

/// Records and bytes in and out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
pub(super) struct Counts {
    pub(super) records_in: u64,
    pub(super) bytes_in: u64,
    pub(super) records_out: u64,
    pub(super) bytes_out: u64,
}

/// The same a second.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Rates {
    pub(super) records_in: f64,
    pub(super) bytes_in: f64,
    pub(super) records_out: f64,
    pub(super) bytes_out: f64,
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

    pub(super) fn cells(&self) -> [String; 4] {
        [self.bytes_in, self.records_in, self.bytes_out, self.records_out].map(|rate| format!("{rate:.0}"))
    }

    pub(super) fn as_json(&self) -> Value {
        json!({
            "bytes_in": self.bytes_in, "records_in": self.records_in, "bytes_out": self.bytes_out,
            "records_out": self.records_out,
        })
    }
}

/// A core's partitions together.
#[derive(Debug, Clone, Default)]
pub(super) struct Core {
    pub(super) partitions: usize,
    pub(super) rates: Rates,
}

/// Asks now and again after some seconds; with 0 once. Gives what it told last, and each partition's rates.
///
/// # Errors
/// As [`endpoint::ask`]'s.
pub(super) fn measure(endpoint: &EndpointArgs, seconds: u64) -> Result<(Told, Vec<Rates>), CliError> {
    let before = if seconds > 0 { Some(ask(endpoint)?) } else { None };
    pause(seconds);
    let told = ask(endpoint)?;
    let rates = rates(before.as_ref(), &told);
    Ok((told, rates))
}

#[allow(clippy::disallowed_methods, reason = "the command's own thread")]
fn pause(seconds: u64) {
    std::thread::sleep(Duration::from_secs(seconds));
}

fn ask(endpoint: &EndpointArgs) -> Result<Told, CliError> {
    let told = endpoint::ask(&endpoint.admin, "GET", "/placement")?;
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

pub(super) fn cores(told: &Told, rates: &[Rates]) -> Vec<Core> {
    let mut cores = vec![Core::default(); usize::from(told.cores)];
    for (one, rates) in told.partitions.iter().zip(rates) {
        if let Some(core) = cores.get_mut(usize::from(one.core)) {
            core.partitions += 1;
            core.rates.add(rates);
        }
    }
    cores
}
