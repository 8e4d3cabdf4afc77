//! Broker configs as text, with where each value comes from.

use std::collections::{BTreeMap, BTreeSet};

use super::{keys, value};

/// Where a value comes from, with the number DescribeConfigs gives for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(i8)]
pub enum Source {
    /// Set on the topic.
    Topic = 1,
    /// Set on this broker while it ran.
    DynamicBroker = 2,
    /// Set on all brokers while they ran.
    DynamicDefaultBroker = 3,
    /// From the file or the command line.
    StaticBroker = 4,
    /// Nobody set it.
    Default = 5,
    /// Set on the client metrics subscription.
    ClientMetrics = 7,
    /// Set on the group.
    Group = 8,
}

impl Source {
    /// Number in DescribeConfigs and CreateTopics answers.
    pub fn code(self) -> i8 {
        self as i8
    }
}

/// Names and texts of one layer.
pub type Layer = BTreeMap<String, String>;

/// All layers of broker configs: dynamic on this broker beats dynamic on all, that beats the file and the command
/// line, and those beat the defaults. Every value in it has been checked.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BrokerValues {
    fixed: Layer,
    dynamic_default: Layer,
    dynamic: Layer,
}

impl BrokerValues {
    /// Values of file and command line.
    pub(super) fn new(fixed: Layer) -> Self {
        Self { fixed, ..Self::default() }
    }

    /// Replaces what was set while running.
    pub fn set_dynamic(&mut self, on_this_broker: Layer, on_all: Layer) {
        self.dynamic = on_this_broker;
        self.dynamic_default = on_all;
    }

    /// The value somebody set, and where.
    pub fn explicit(&self, name: &str) -> Option<(&str, Source)> {
        let layers = [
            (&self.dynamic, Source::DynamicBroker),
            (&self.dynamic_default, Source::DynamicDefaultBroker),
            (&self.fixed, Source::StaticBroker),
        ];
        layers.into_iter().find_map(|(layer, source)| Some((layer.get(name)?.as_str(), source)))
    }

    /// The value of one layer; those of topics and groups aren't here.
    pub fn of_layer(&self, layer: Source, name: &str) -> Option<&str> {
        let layer = match layer {
            Source::DynamicBroker => &self.dynamic,
            Source::DynamicDefaultBroker => &self.dynamic_default,
            Source::StaticBroker => &self.fixed,
            Source::Default => return keys::broker(name)?.default,
            Source::Topic | Source::ClientMetrics | Source::Group => return None,
        };
        layer.get(name).map(String::as_str)
    }

    /// Names that somebody set, those that don't exist included.
    pub fn names_set(&self) -> BTreeSet<&str> {
        let layers = [&self.dynamic, &self.dynamic_default, &self.fixed];
        layers.into_iter().flat_map(BTreeMap::keys).map(String::as_str).collect()
    }

    /// Names that were set on all brokers while they ran.
    pub fn names_set_on_all(&self) -> impl Iterator<Item = &str> {
        self.dynamic_default.keys().map(String::as_str)
    }

    /// The value in force, and where it comes from; none is Kafka's null, or a name that doesn't exist.
    pub fn get(&self, name: &str) -> Option<(&str, Source)> {
        let default = || Some((keys::broker(name)?.default?, Source::Default));
        self.explicit(name).or_else(default)
    }

    /// A number that can't be negative; 0 for null.
    pub fn number(&self, name: &str) -> u64 {
        value::as_long(self.text(name)).and_then(|number| u64::try_from(number).ok()).unwrap_or_default()
    }

    /// The value in force; empty for null.
    pub fn text(&self, name: &str) -> &str {
        self.get(name).map_or("", |(text, _)| text)
    }
}
