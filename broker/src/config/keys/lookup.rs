//! Finding a broker config by name.

use super::*;
use crate::config::key::ConfigKey;

static TABLES: &[&[ConfigKey]] = &[
    cleaner::KEYS,
    fetch::KEYS,
    group::KEYS,
    identity::KEYS,
    kraft::KEYS,
    log::KEYS,
    network::KEYS,
    quota::KEYS,
    replication::KEYS,
    ringlog::KEYS,
    sasl::KEYS,
    share::KEYS,
    ssl::KEYS,
    streams::KEYS,
    tiered::KEYS,
    topics::KEYS,
    transaction::KEYS,
];

/// All broker configs, by subject.
pub fn all_broker() -> impl Iterator<Item = &'static ConfigKey> {
    TABLES.iter().copied().flatten()
}

/// The broker config of that name. Walks the table: for start-up and admin requests.
pub fn broker(name: &str) -> Option<&'static ConfigKey> {
    all_broker().find(|key| key.name == name)
}

/// Names known by how they start; what follows is free.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeyFamily {
    /// How the names start.
    pub prefix: &'static str,
    /// Why setting one has no effect here.
    pub reason: &'static str,
}

const FAMILIES: &[KeyFamily] = &[
    KeyFamily { prefix: "listener.name.", reason: "listeners have no configs of their own yet" },
    KeyFamily { prefix: "rsm.config.", reason: "there is no tiered storage yet" },
    KeyFamily { prefix: "rlmm.config.", reason: "there is no tiered storage yet" },
    KeyFamily { prefix: "config.providers.", reason: "Java classes can't be loaded" },
];

/// The family that a name belongs to.
pub fn family(name: &str) -> Option<KeyFamily> {
    FAMILIES.iter().copied().find(|family| name.starts_with(family.prefix))
}
