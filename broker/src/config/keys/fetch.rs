//! Fetch requests of consumers.

use super::keys;
use super::reason::*;
use super::rules::*;
use crate::config::key::ConfigKey;

pub(super) static KEYS: &[ConfigKey] = keys! {
    "fetch.max.bytes" Int = "57671680", min(1024), ReadOnly, ACTS, "Bytes in one answer to Fetch.";
    "max.incremental.fetch.session.cache.slots" Int = "1000", min(0), ReadOnly, ACTS,
        "Fetch sessions kept, all shards together.";
};
