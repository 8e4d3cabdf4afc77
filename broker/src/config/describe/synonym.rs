//! A value that counts for a config, or would count without those before it.

use protocol::types::Str;

use crate::config::keys;
use crate::config::values::{BrokerValues, Source};

/// A name with a value, and where it comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Synonym {
    /// Its name: the config's own, or that of one that stands in.
    pub name: Str,
    /// The text as it was set; none if it must not be shown.
    pub value: Option<Str>,
    /// Where it was set.
    pub source: Source,
}

impl Synonym {
    pub(super) fn new(name: &str, value: &str, source: Source) -> Synonym {
        Synonym { name: Str::from(name), value: Some(Str::from(value)), source }
    }

    pub(super) fn hidden_if(self, sensitive: bool) -> Synonym {
        Synonym { value: self.value.filter(|_| !sensitive), ..self }
    }
}

/// Layers of broker configs, the one that wins first.
const LAYERS: [Source; 4] =
    [Source::DynamicBroker, Source::DynamicDefaultBroker, Source::StaticBroker, Source::Default];

/// All values that count for a broker config. As in Kafka those of other names that come before the first of its own are left out: a
/// `log.retention.hours` from the file isn't told as a synonym of `log.retention.ms`, though it decides.
pub(super) fn of_broker(values: &BrokerValues, name: &str) -> Vec<Synonym> {
    let own = [name];
    let names: &[&str] = match keys::broker_synonyms(name) {
        [] => &own,
        synonyms => synonyms,
    };
    let found = LAYERS.iter().flat_map(|layer| {
        names.iter().filter_map(|name| Some(Synonym::new(name, values.of_layer(*layer, name)?, *layer)))
    });
    found.skip_while(|synonym| synonym.name != *name).collect()
}
