//! The configs of a group.

use protocol::types::Str;

use super::{Entry, Synonym, synonym};
use crate::config::keys::{self, GroupKey};
use crate::config::topic::Overrides;
use crate::config::values::{BrokerValues, Source};

/// All configs of a group with these overrides, whether it exists or not; internal ones only if they are set.
pub fn describe_group(overrides: &Overrides, values: &BrokerValues) -> Vec<Entry> {
    let shown =
        keys::all_group().filter(|group| !group.is_internal() || overrides.contains_key(group.key.name));
    shown.map(|group| one(group, overrides, values)).collect()
}

fn one(group: GroupKey, overrides: &Overrides, values: &BrokerValues) -> Entry {
    let name = group.key.name;
    let own = overrides.get(name);
    let others = match group.synonym {
        Some(synonym) => synonym::of_broker(values, synonym),
        None => group.key.default.map(|text| Synonym::new(name, text, Source::Default)).into_iter().collect(),
    };
    let default = others.first().and_then(|first| first.value.clone());
    let value = own.cloned().or(default);
    let own = own.map(|text| Synonym::new(name, text, Source::Group));
    let synonyms = own.into_iter().chain(others).collect();
    Entry::new(Str::from_static(name), Some(group.key), value.as_deref(), synonyms)
}
