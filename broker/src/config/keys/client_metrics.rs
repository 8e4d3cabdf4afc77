//! Configs of client metrics subscriptions (KIP-714).

use super::keys;
use super::reason::*;
use super::rules::*;
use crate::config::key::ConfigKey;

/// What clients may be matched by.
pub const CLIENT_PATTERN_KEYS: [&str; 6] = [
    "client_id",
    "client_instance_id",
    "client_software_name",
    "client_software_version",
    "client_source_address",
    "client_source_port",
];

static KEYS: &[ConfigKey] = keys! {
    "interval.ms" Int = "300000", ANY, DynamicOnly, TELEMETRY,
        "How often clients push their metrics, in ms, between 100 and 3600000.";
    "match" List = "", ANY, DynamicOnly, TELEMETRY, "Which clients: KEY=REGULAR_EXPRESSION, all of them must fit.";
    "metrics" List = "", ANY, DynamicOnly, TELEMETRY, "How the metrics' names start; * for all, none if empty.";
};

/// All configs of client metrics subscriptions, by name.
pub fn all_client_metrics() -> impl Iterator<Item = &'static ConfigKey> {
    KEYS.iter()
}

/// The one of that name.
pub fn client_metrics(name: &str) -> Option<&'static ConfigKey> {
    KEYS.iter().find(|key| key.name == name)
}
