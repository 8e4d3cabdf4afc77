//! What may have configs: topics, brokers, groups, client metrics subscriptions; and what each lets be set.

use protocol::error::ErrorCode;
use protocol::types::Str;

use super::fault::Fault;
use super::topic_name::check_topic_name;
use crate::config::key::{ConfigKey, Kind, Update};
use crate::config::keys::{self, CLIENT_PATTERN_KEYS};
use crate::config::topic::{self, Overrides};
use crate::config::{BrokerValues, ConfigError, value};
use crate::metadata::image::{
    Image, RESOURCE_BROKER, RESOURCE_CLIENT_METRICS, RESOURCE_GROUP, RESOURCE_TOPIC,
};

/// Shortest and longest time between two pushes of client metrics, in ms.
const PUSH_INTERVAL_MS: std::ops::RangeInclusive<i64> = 100..=3_600_000;

/// A resource whose configs can be altered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ConfigResource {
    Topic,
    /// One broker.
    Broker,
    /// All brokers: the resource without a name.
    AllBrokers,
    Group,
    ClientMetrics,
}

impl ConfigResource {
    /// The kind that a request names, and what is set on the resource now.
    pub(super) fn find(image: &Image, kind: i8, name: &Str) -> Result<(Self, Overrides), Fault> {
        let bad = |text: String| Err(Fault::new(ErrorCode::INVALID_REQUEST, text));
        let resource = match kind {
            RESOURCE_TOPIC if name.is_empty() => {
                return bad("Default topic resources are not allowed.".into());
            }
            RESOURCE_TOPIC => {
                check_topic_name(name).map_err(|why| Fault::new(ErrorCode::INVALID_TOPIC_EXCEPTION, why))?;
                let missing = || {
                    let text = format!("The topic '{name}' does not exist.");
                    Fault::new(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION, text)
                };
                return Ok((Self::Topic, image.topic(name).ok_or_else(missing)?.configs.clone()));
            }
            RESOURCE_BROKER if name.is_empty() => Self::AllBrokers,
            RESOURCE_BROKER => {
                match name.parse::<i32>() {
                    // Its configs are found under the id as it is usually written.
                    Ok(id) if *name != id.to_string() => {
                        return bad(format!("Node id must be an integer, but it is: {name}"));
                    }
                    Ok(id) if image.brokers.contains_key(&id) => {}
                    Ok(id) => {
                        let text = format!("No broker with id {id} found.");
                        return Err(Fault::new(ErrorCode::BROKER_ID_NOT_REGISTERED, text));
                    }
                    Err(_) => return bad(format!("Node id must be an integer, but it is: {name}")),
                }
                Self::Broker
            }
            RESOURCE_GROUP if name.is_empty() => {
                return bad("Default group resources are not allowed.".into());
            }
            RESOURCE_GROUP => Self::Group,
            RESOURCE_CLIENT_METRICS if name.is_empty() => {
                return bad("Subscription name can't be empty".into());
            }
            RESOURCE_CLIENT_METRICS => Self::ClientMetrics,
            other => return bad(format!("Unknown resource type {other}")),
        };
        Ok((resource, image.configs(kind, name).cloned().unwrap_or_default()))
    }

    /// What is known about a config of it.
    fn key(self, name: &str) -> Option<&'static ConfigKey> {
        match self {
            Self::Topic => keys::topic(name).map(|topic| topic.key),
            Self::Broker | Self::AllBrokers => keys::broker(name),
            Self::Group => keys::group(name).map(|group| group.key),
            Self::ClientMetrics => keys::client_metrics(name),
        }
    }

    /// Whether APPEND and SUBTRACT (`operation`) make sense.
    pub(super) fn check_is_list(self, operation: &str, name: &str) -> Result<(), Fault> {
        let of_broker = matches!(self, Self::Broker | Self::AllBrokers);
        let text = match self.key(name) {
            // Kafka's controller doesn't know the types of these.
            Some(key) if key.kind == Kind::List && self != Self::ClientMetrics => return Ok(()),
            Some(_) if of_broker => {
                let operation = operation.to_ascii_lowercase();
                format!("Config value {operation} is not allowed for config key: {name}")
            }
            None if of_broker => format!("Unknown config name: {name}"),
            _ => format!("Can't {operation} to key {name} because its type is not LIST."),
        };
        Err(Fault::new(ErrorCode::INVALID_CONFIG, text))
    }

    /// What APPEND and SUBTRACT start from where nothing is set.
    pub(super) fn inherited(self, name: &str, values: &BrokerValues) -> String {
        let text = match self {
            Self::Topic => {
                let topic = keys::topic(name);
                let synonyms = topic.map_or(&[][..], |topic| topic.synonyms);
                let of_broker = synonyms.iter().find_map(|synonym| values.explicit(synonym.name));
                of_broker.map(|(text, _)| text).or(topic.and_then(|topic| topic.key.default))
            }
            Self::Broker | Self::AllBrokers => Some(values.text(name)),
            Self::Group => keys::group(name).and_then(|group| match group.synonym {
                Some(synonym) => values.get(synonym).map(|(text, _)| text),
                None => group.key.default,
            }),
            Self::ClientMetrics => None,
        };
        text.unwrap_or_default().to_string()
    }

    /// Checks all that would be set then.
    pub(super) fn check(self, after: &Overrides, values: &BrokerValues) -> Result<(), Fault> {
        match self {
            Self::Topic => Ok(topic::check_all(after, values)?),
            Self::Broker | Self::AllBrokers => self.check_broker(after),
            Self::Group => after.iter().try_for_each(|(name, text)| {
                let unknown = || ConfigError::Refused(format!("Unknown group config name: {name}"));
                Ok(keys::group(name).ok_or_else(unknown)?.check(text, values)?)
            }),
            Self::ClientMetrics => after.iter().try_for_each(|(name, text)| check_client_metrics(name, text)),
        }
    }

    /// Names that nobody knows are let through, as in Kafka, where plug-ins may know them.
    fn check_broker(self, after: &Overrides) -> Result<(), Fault> {
        let bad = |text: String| Err(Fault::new(ErrorCode::INVALID_REQUEST, text));
        let named = |refuses: &dyn Fn(&str) -> bool| {
            let names: Vec<&str> = after.keys().map(Str::as_str).filter(|name| refuses(name)).collect();
            (!names.is_empty()).then(|| format!("[{}]", names.join(", ")))
        };
        let update = |name: &str| keys::broker(name).map(|key| key.update);
        if let Some(names) = named(&|name| update(name) == Some(Update::ReadOnly)) {
            return bad(format!("Cannot update these configs dynamically: {names}"));
        }
        let is_per_broker =
            |name: &str| update(name) == Some(Update::PerBroker) || name.starts_with("listener.name.");
        if let Some(names) = named(&is_per_broker).filter(|_| self == Self::AllBrokers) {
            let text = "Cannot update these configs at default cluster level, broker id must be specified";
            return bad(format!("{text}: {names}"));
        }
        for (name, text) in after {
            let key = keys::broker(name).or_else(|| keys::base_of_listener(name));
            let checked = key.map_or(Ok(()), |key| key.check(text));
            if let Err(error) = checked.and_then(|()| topic::check_stand_in(name, text)) {
                return bad(error.to_string());
            }
        }
        Ok(())
    }
}

fn check_client_metrics(name: &str, text: &str) -> Result<(), Fault> {
    let bad = |text: String| Err(Fault::new(ErrorCode::INVALID_REQUEST, text));
    let Some(key) = keys::client_metrics(name) else {
        return bad(format!("Unknown client metrics configuration: {name}"));
    };
    key.check(text)?;
    match name {
        "interval.ms" => match value::as_long(text) {
            Some(interval_ms) if PUSH_INTERVAL_MS.contains(&interval_ms) => Ok(()),
            _ => bad(format!(
                "Invalid value {text} for interval.ms, interval must be between 100 and 3600000 (1 hour)"
            )),
        },
        "match" => value::list(text).into_iter().try_for_each(|pattern| {
            let known = pattern.split_once('=').is_some_and(|(what, expression)| {
                CLIENT_PATTERN_KEYS.contains(&what.trim()) && is_expression(expression.trim())
            });
            let text = format!("Illegal client matching pattern: {pattern}");
            if known { Ok(()) } else { Err(Fault::new(ErrorCode::INVALID_CONFIG, text)) }
        }),
        _ => Ok(()),
    }
}

/// Whether brackets are closed in the order they were opened: nothing here matches by these expressions yet, so no more is checked.
fn is_expression(text: &str) -> bool {
    let (mut open, mut escaped) = (Vec::new(), false);
    for c in text.chars() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            ']' if open.last() == Some(&']') => drop(open.pop()),
            // Within a class everything else stands for itself.
            _ if open.last() == Some(&']') => {}
            '(' => open.push(')'),
            '[' => open.push(']'),
            ')' if open.pop() != Some(')') => return false,
            _ => {}
        }
    }
    !text.is_empty() && open.is_empty() && !escaped
}
