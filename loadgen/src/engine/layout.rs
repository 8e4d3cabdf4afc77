//! Which partitions a load goes to.

use std::collections::BTreeMap;

use protocol::types::{Str, Uuid};

/// The partitions of all topics of a load, numbered through: a *slot* is such a number.
#[derive(Debug, Clone, Default)]
pub(crate) struct Layout {
    topics: Vec<LaidTopic>,
    by_name: BTreeMap<Str, usize>,
    by_id: BTreeMap<Uuid, usize>,
    slots: u32,
}

/// One topic's part of it.
#[derive(Debug, Clone)]
pub(crate) struct LaidTopic {
    pub(crate) name: Str,
    /// Zero from brokers that have no topic ids.
    pub(crate) id: Uuid,
    /// How many partitions, numbered from 0.
    pub(crate) partitions: u32,
    /// Slot of its partition 0.
    pub(crate) first: u32,
}

impl Layout {
    pub(crate) fn add(&mut self, name: Str, id: Uuid, partitions: u32) {
        let topic = self.topics.len();
        self.by_name.insert(name.clone(), topic);
        if !id.is_zero() {
            self.by_id.insert(id, topic);
        }
        self.topics.push(LaidTopic { name, id, partitions, first: self.slots });
        self.slots += partitions;
    }

    pub(crate) fn topics(&self) -> &[LaidTopic] {
        &self.topics
    }

    pub(crate) fn slots(&self) -> u32 {
        self.slots
    }

    /// The topic and partition of a slot; the number of topics' binary logarithm.
    pub(crate) fn place(&self, slot: u32) -> (&LaidTopic, i32) {
        let topic = &self.topics[self.topics.partition_point(|topic| topic.first <= slot) - 1];
        (topic, (slot - topic.first) as i32)
    }

    /// The slot of a partition that an answer names, by id if it has one.
    pub(crate) fn find(&self, name: &Str, id: Uuid, partition: i32) -> Option<u32> {
        let by_id = if id.is_zero() { None } else { self.by_id.get(&id) };
        let topic = &self.topics[*by_id.or_else(|| self.by_name.get(name))?];
        let partition = u32::try_from(partition).ok().filter(|partition| *partition < topic.partitions)?;
        Some(topic.first + partition)
    }

    /// As `topic-0`.
    pub(crate) fn name(&self, slot: u32) -> String {
        let (topic, partition) = self.place(slot);
        format!("{}-{partition}", topic.name)
    }
}
