//! The table of config names, by what they are about.
//!
//! A row is `"name" Type = "default", rule, who may change it, effect, "doc";` without `= "default"` the default
//! is null. Defaults and limits are Kafka 4.4's unless the doc says otherwise.

mod cleaner;
mod fetch;
mod group;
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

pub use lookup::{KeyFamily, all_broker, broker, family};
pub use topic::{Synonym, TopicKey, all_topic, topic};
