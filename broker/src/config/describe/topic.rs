//! The configs of a topic.

use protocol::types::Str;

use super::{Entry, Synonym, synonym};
use crate::config::keys;
use crate::config::topic::{Overrides, describe};
use crate::config::values::{BrokerValues, Source};

/// All configs of a topic with these overrides; internal ones only if they are set.
pub fn describe_topic(overrides: &Overrides, values: &BrokerValues) -> Vec<Entry> {
    let internal = overrides.iter().filter(|(name, _)| name.starts_with("internal."));
    let internal = internal.map(|(name, text)| one(name, Some(text), overrides, values));
    let all = describe(overrides, values).into_iter();
    let mut all: Vec<Entry> = all
        .map(|described| one(described.name, described.value.as_deref(), overrides, values))
        .chain(internal)
        .collect();
    all.sort_by(|a, b| a.name.cmp(&b.name));
    all
}

fn one(name: &str, value: Option<&str>, overrides: &Overrides, values: &BrokerValues) -> Entry {
    let topic = keys::topic(name);
    // Kafka names the first broker config that stands in, and what decides about that one.
    let of_broker = topic.and_then(|topic| topic.synonyms.first());
    let own = overrides.get(name).map(|text| Synonym::new(name, text, Source::Topic));
    let others = of_broker.map(|first| synonym::of_broker(values, first.name)).unwrap_or_default();
    let synonyms = own.into_iter().chain(others).collect();
    Entry::new(Str::from(name), topic.map(|topic| topic.key), value, synonyms)
}
