//! One config of a resource.

use protocol::types::Str;

use super::Synonym;
use crate::config::key::{ConfigKey, Effect};
use crate::config::value;
use crate::config::values::Source;

/// A config as DescribeConfigs tells it.
#[derive(Debug, Clone)]
pub struct Entry {
    /// Its name.
    pub name: Str,
    /// The value in force as Kafka writes it; none for null, and for what must not be shown.
    pub value: Option<Str>,
    /// Whether it can't be changed while the broker runs.
    pub read_only: bool,
    /// Where the value comes from.
    pub source: Source,
    /// Whether the value must not be shown.
    pub sensitive: bool,
    /// All values that count, the one in force first.
    pub synonyms: Vec<Synonym>,
    /// Kafka's number of the type, 0 for names that aren't known.
    pub kind: i8,
    pub(super) key: Option<&'static ConfigKey>,
}

impl Entry {
    /// An entry of a name with `key`, or of one that isn't known.
    pub(super) fn new(
        name: Str,
        key: Option<&'static ConfigKey>,
        value: Option<&str>,
        synonyms: Vec<Synonym>,
    ) -> Entry {
        // What isn't known could be a password.
        let sensitive = key.is_none_or(ConfigKey::is_sensitive);
        let canonical = |text: &str| match key {
            Some(key) => Str::from(value::canonical(key.kind, &key.valid, text)),
            None => Str::from(text),
        };
        Entry {
            name,
            value: value.filter(|_| !sensitive).map(canonical),
            read_only: false,
            source: synonyms.first().map_or(Source::Default, |first| first.source),
            sensitive,
            synonyms: synonyms.into_iter().map(|synonym| synonym.hidden_if(sensitive)).collect(),
            kind: key.map_or(0, |key| key.kind.code()),
            key,
        }
    }

    /// What it means, and why it does nothing here if it does nothing; none for names that aren't known.
    pub fn documentation(&self) -> Option<String> {
        let key = self.key?;
        Some(match key.effect {
            Effect::Acts => key.doc.to_string(),
            Effect::Inert { reason } => format!("{} Without effect here: {reason}.", key.doc),
        })
    }
}
