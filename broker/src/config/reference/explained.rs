//! What there is to say about one name.

use std::fmt;

use super::unit::unit;
use crate::config::key::{ConfigKey, Effect, Update, Valid};
use crate::config::keys::{self, GroupKey, TopicKey};

/// What a config is set on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scope {
    /// A broker: in its file, on its command line, or while it runs.
    Broker,
    /// A topic.
    Topic,
    /// A group.
    Group,
    /// A client metrics subscription (KIP-714).
    ClientMetrics,
}

impl Scope {
    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Broker => "broker",
            Self::Topic => "topic",
            Self::Group => "group",
            Self::ClientMetrics => "client metrics",
        }
    }
}

/// A name in one scope, with all that is known about it, in words.
#[derive(Debug, Clone)]
pub struct Explained {
    /// What it is set on.
    pub scope: Scope,
    /// Name, type, default, rule and doc.
    pub key: &'static ConfigKey,
    /// What decides when it isn't set itself: names of broker configs, the first that is set wins.
    pub stand_ins: Vec<&'static str>,
    /// Broker configs that the value is bounded by, in words.
    pub bounds: Option<String>,
}

impl Explained {
    pub(super) fn of_broker(key: &'static ConfigKey) -> Self {
        let others = keys::broker_synonyms(key.name).iter().copied().filter(|name| *name != key.name);
        Self { scope: Scope::Broker, key, stand_ins: others.collect(), bounds: None }
    }

    pub(super) fn of_topic(topic: TopicKey) -> Self {
        let stand_ins = topic.synonyms.iter().map(|synonym| synonym.name).collect();
        Self { scope: Scope::Topic, key: topic.key, stand_ins, bounds: None }
    }

    pub(super) fn of_group(group: GroupKey) -> Self {
        let bounds = group.bounds().map(|(min, max)| match min {
            Some(min) => format!("between {min} and {max}"),
            None => format!("at most {max}"),
        });
        Self { scope: Scope::Group, key: group.key, stand_ins: group.synonym.into_iter().collect(), bounds }
    }

    pub(super) fn of_client_metrics(key: &'static ConfigKey) -> Self {
        Self { scope: Scope::ClientMetrics, key, stand_ins: Vec::new(), bounds: None }
    }

    /// What the value may be, in words.
    pub fn allowed(&self) -> String {
        let own = Allowed(&self.key.valid).to_string();
        match &self.bounds {
            Some(bounds) => format!("{own}, {bounds}"),
            None => own,
        }
    }

    /// Unit of a number; none for what counts things, and for what is no number.
    pub fn unit(&self) -> Option<&'static str> {
        unit(self.key)
    }

    /// Who may change it, and when.
    pub fn changes(&self) -> &'static str {
        match (self.scope, self.key.update) {
            (Scope::Topic | Scope::Group | Scope::ClientMetrics, _) => "at any time",
            (Scope::Broker, Update::ReadOnly) => "at start only",
            (Scope::Broker, Update::PerBroker) => "at any time, on one broker",
            (Scope::Broker, Update::ClusterWide) => "at any time, on one broker or all",
            (Scope::Broker, Update::DynamicOnly) => "at any time, but not in a file",
        }
    }

    /// Whether a change takes effect while the broker runs.
    pub fn is_dynamic(&self) -> bool {
        self.scope != Scope::Broker || self.key.update != Update::ReadOnly
    }

    /// Why setting it does nothing here; none if it acts.
    pub fn without_effect(&self) -> Option<&'static str> {
        match self.key.effect {
            Effect::Acts => None,
            Effect::Inert { reason } => Some(reason),
        }
    }
}

/// A rule in words.
struct Allowed<'a>(&'a Valid);

impl fmt::Display for Allowed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Valid::Any => f.write_str("any"),
            Valid::AtLeast(min) => write!(f, "{min} or more"),
            Valid::Between(min, max) => write!(f, "{min} to {max}"),
            Valid::Ratio(min, max) => write!(f, "{min} to {max}"),
            Valid::OneOf(allowed) => write!(f, "one of: {}", allowed.join(", ")),
            Valid::ListOf(allowed) => write!(f, "any of: {}", allowed.join(", ")),
            Valid::NonEmpty => f.write_str("not empty"),
            Valid::Rule { allows, .. } => f.write_str(allows),
        }
    }
}
