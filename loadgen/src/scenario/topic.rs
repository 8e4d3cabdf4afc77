//! The topic of a load.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The topic, or topics, of a load. Created if they aren't there, deleted afterwards if the load made them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TopicSpec {
    /// Name; a fresh one for each load if empty. Of several topics, the first part of their names.
    pub name: String,
    /// How many topics of the same kind.
    pub topics: u32,
    /// Partitions of each; the broker's default if 0.
    pub partitions: i32,
    /// Replicas of each; the broker's default if 0.
    pub replication: i16,
    /// Topic configs to set.
    pub configs: BTreeMap<String, String>,
    /// Keeps topics that the load created.
    pub keep: bool,
}

impl Default for TopicSpec {
    fn default() -> Self {
        Self {
            name: String::new(),
            topics: 1,
            partitions: 1,
            replication: 1,
            configs: BTreeMap::new(),
            keep: false,
        }
    }
}

/// Most partitions of a load, all topics together.
pub(crate) const PARTITIONS_MAX: u64 = 1_000_000;

impl TopicSpec {
    pub(super) fn check(&self) -> Result<(), String> {
        if self.topics == 0 || self.partitions < 0 || self.replication < 0 {
            return Err("topics must be at least 1, partitions and replication not negative".into());
        }
        if u64::from(self.topics) * self.partitions.max(1) as u64 > PARTITIONS_MAX {
            return Err(format!("more than {PARTITIONS_MAX} partitions"));
        }
        Ok(())
    }

    /// Names of the topics, under `fresh` if none is set.
    pub fn names(&self, fresh: &str) -> Vec<String> {
        let stem = if self.name.is_empty() { fresh } else { &self.name };
        match self.topics {
            1 => vec![stem.to_owned()],
            topics => (0..topics).map(|topic| format!("{stem}-{topic}")).collect(),
        }
    }
}
