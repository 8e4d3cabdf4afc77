//! The configs of a broker, and those set on all brokers.

use std::collections::BTreeSet;

use protocol::types::Str;

use super::{Entry, synonym};
use crate::config::key::Update;
use crate::config::keys;
use crate::config::values::{BrokerValues, Source};

/// All configs of the broker with these values: those that Kafka tells, and whatever somebody set.
pub fn describe_broker(values: &BrokerValues) -> Vec<Entry> {
    let known = keys::all_broker().map(|key| key.name).filter(|name| !keys::is_internal(name));
    let names: BTreeSet<&str> = known.chain(values.names_set()).collect();
    names.into_iter().map(|name| one(values, name, false)).collect()
}

/// What was set on all brokers while they ran.
pub fn describe_all_brokers(values: &BrokerValues) -> Vec<Entry> {
    values.names_set_on_all().map(|name| one(values, name, true)).collect()
}

fn one(values: &BrokerValues, name: &str, on_all: bool) -> Entry {
    let own = keys::broker(name);
    let key = own.or_else(|| keys::base_of_listener(name));
    let mut synonyms = synonym::of_broker(values, name);
    let value = if on_all {
        synonyms.retain(|synonym| synonym.source == Source::DynamicDefaultBroker);
        values.of_layer(Source::DynamicDefaultBroker, name)
    } else {
        values.get(name).map(|(text, _)| text)
    };
    let read_only = own.is_none_or(|key| key.update == Update::ReadOnly);
    Entry { read_only, ..Entry::new(Str::from(name), key, value, synonyms) }
}
