//! Rules of single configs.

use crate::config::key::Valid;
use crate::config::listener::Listener;
use crate::config::{period, value};

pub(super) const ANY: Valid = Valid::Any;
pub(super) const NAMED: Valid = Valid::NonEmpty;

pub(super) const fn min(min: i64) -> Valid {
    Valid::AtLeast(min)
}

pub(super) const fn between(min: i64, max: i64) -> Valid {
    Valid::Between(min, max)
}

pub(super) const fn one_of(allowed: &'static [&'static str]) -> Valid {
    Valid::OneOf(allowed)
}

pub(super) const UNIT: Valid = Valid::Ratio(0.0, 1.0);
pub(super) const COMPRESSION: Valid =
    Valid::OneOf(&["uncompressed", "zstd", "lz4", "snappy", "gzip", "producer"]);
pub(super) const CLEANUP_POLICY: Valid = Valid::ListOf(&["compact", "delete"]);
pub(super) const TIMESTAMP_TYPE: Valid = Valid::OneOf(&["CreateTime", "LogAppendTime"]);
pub(super) const GZIP_LEVEL: Valid = Valid::Rule { check: gzip_level, allows: "-1, or 1 to 9" };
pub(super) const HOST_AND_PORT: Valid = Valid::Rule { check: host_and_port, allows: "HOST:PORT, or empty" };
pub(super) const THROTTLED: Valid =
    Valid::Rule { check: throttled_replicas, allows: "PARTITION:BROKER,.., or *" };
/// Most partitions of `__consumer_offsets`: it is created in one batch of metadata, with its configs.
pub(super) const OFFSETS_PARTITIONS_MAX: i64 = 9_000;
/// Kafka's smallest segment, in bytes.
pub(super) const SEGMENT_BYTES: Valid = Valid::Between(1_048_576, i32::MAX as i64);

fn gzip_level(text: &str) -> Result<(), String> {
    match value::as_long(text) {
        Some(-1 | 1..=9) => Ok(()),
        _ => Err("Value must be between 1 and 9 or equal to -1".into()),
    }
}

fn host_and_port(text: &str) -> Result<(), String> {
    let text = text.trim();
    if text.is_empty() || Listener::parse(&format!("ADMIN://{text}")).is_ok() {
        return Ok(());
    }
    Err("must be HOST:PORT with a port between 0 and 65535, or empty".into())
}

/// `*`, or partition and broker pairs: `0:1,1:2`.
fn throttled_replicas(text: &str) -> Result<(), String> {
    let is_number = |digits: &str| !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    let is_pair = |pair: &str| pair.split_once(':').is_some_and(|(p, b)| is_number(p) && is_number(b));
    let elements = value::list(text);
    if elements == ["*"] || elements.iter().all(|pair| is_pair(pair)) {
        return Ok(());
    }
    Err("must be the literal '*' or a list of replicas in the following format: \
         [partitionId]:[brokerId],[partitionId]:[brokerId],..."
        .into())
}

pub(super) const OFFSET_RESET: Valid =
    Valid::Rule { check: offset_reset, allows: "earliest, latest, or by_duration:PnDTnHnMnS" };
pub(super) const ASSIGNOR: Valid = Valid::OneOf(&["sticky"]);

/// `earliest`, `latest`, or how long ago: `by_duration:PT1H`.
fn offset_reset(text: &str) -> Result<(), String> {
    let by_duration = text.strip_prefix("by_duration:");
    if matches!(text, "earliest" | "latest")
        || by_duration.is_some_and(|text| period::parse_ms(text).is_some())
    {
        return Ok(());
    }
    Err(format!(
        "Invalid value `{text}` for configuration share.auto.offset.reset. The value must be either 'earliest', 'latest' \
         or of the format 'by_duration:<PnDTnHnMn.nS>'."
    ))
}

pub(super) const IO_ENGINE: Valid = Valid::OneOf(&rt::Engine::NAMES);
pub(super) const PRODUCE_VALIDATION: Valid = Valid::OneOf(&["full", "header"]);
