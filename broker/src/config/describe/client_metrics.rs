//! The configs of a client metrics subscription.

use protocol::types::Str;

use super::{Entry, Synonym};
use crate::config::keys;
use crate::config::topic::Overrides;
use crate::config::values::Source;

/// All configs of a subscription with these overrides, whether it exists or not.
pub fn describe_client_metrics(overrides: &Overrides) -> Vec<Entry> {
    let one = |key: &'static crate::config::key::ConfigKey| {
        let own = overrides.get(key.name);
        let synonyms =
            own.map(|text| Synonym::new(key.name, text, Source::ClientMetrics)).into_iter().collect();
        let value = own.map(Str::as_str).or(key.default);
        Entry::new(Str::from_static(key.name), Some(key), value, synonyms)
    };
    keys::all_client_metrics().map(one).collect()
}
