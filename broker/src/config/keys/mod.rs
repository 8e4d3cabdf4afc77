//! The table of config names, by what they are about.
//!
//! A row is `"name" Type = "default", rule, who may change it, effect, "doc";` without `= "default"` the default
//! is null. Defaults and limits are Kafka 4.4's unless the doc says otherwise.

mod cleaner;
mod client_metrics;
mod fetch;
mod group;
mod group_resource;
mod identity;
mod kraft;
mod log;
mod lookup;
mod network;
mod quota;
mod reason;
mod replication;
mod ringlog;
mod rules;
mod sasl;
mod share;
mod ssl;
mod streams;
mod synonyms;
mod tiered;
mod topic;
mod topics;
mod transaction;

/// Rows to [`ConfigKey`](super::key::ConfigKey)s.
macro_rules! keys {
    (@default) => { None };
    (@default $default:literal) => { Some($default) };
    ($($name:literal $kind:ident $(= $default:literal)?, $valid:expr, $update:ident, $effect:expr, $doc:literal;)*) => {
        &[$($crate::config::key::ConfigKey {
            name: $name,
            kind: $crate::config::key::Kind::$kind,
            default: $crate::config::keys::keys!(@default $($default)?),
            valid: $valid,
            update: $crate::config::key::Update::$update,
            effect: $effect,
            doc: $doc,
        }),*]
    };
}
use keys;

pub use client_metrics::{CLIENT_PATTERN_KEYS, all_client_metrics, client_metrics};
pub use group_resource::{GroupKey, all_group, group};
pub use lookup::{KeyFamily, all_broker, base_of_listener, broker, broker_subjects, family, is_internal};
pub use synonyms::broker_synonyms;
pub use topic::{Synonym, TopicKey, all_topic, topic};
