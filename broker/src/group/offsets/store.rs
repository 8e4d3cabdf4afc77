//! The committed offsets of a group.

use std::collections::BTreeMap;

use protocol::internal::OffsetCommitValue;
use protocol::types::{Str, Uuid};

/// A committed offset.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Committed {
    /// The next offset to read.
    pub offset: i64,
    /// Leader epoch of the last record read; -1 if unknown.
    pub leader_epoch: i32,
    /// The client's own text.
    pub metadata: Str,
    /// When, ms since 1970.
    pub committed_ms: i64,
    /// When it expires, if the client said so (OffsetCommit v2-4), ms since 1970; -1 otherwise.
    pub expires_ms: i64,
    /// The topic's id; zero in old records.
    pub topic_id: Uuid,
}

/// Committed offsets by topic and partition. A topic without offsets has no entry.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct GroupOffsets {
    topics: BTreeMap<Str, BTreeMap<i32, Committed>>,
}

impl GroupOffsets {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.topics.is_empty()
    }

    /// The offset of a partition.
    pub fn get(&self, topic: &str, partition: i32) -> Option<&Committed> {
        self.topics.get(topic)?.get(&partition)
    }

    /// All topics with their offsets, in the order of names.
    pub fn topics(&self) -> impl Iterator<Item = (&Str, &BTreeMap<i32, Committed>)> {
        self.topics.iter()
    }

    /// Topics from that name on with their offsets, in the order of names.
    pub fn topics_from(&self, topic: &Str) -> impl Iterator<Item = (&Str, &BTreeMap<i32, Committed>)> {
        self.topics.range(topic.clone()..)
    }

    /// All offsets.
    pub fn all(&self) -> impl Iterator<Item = (&Str, i32, &Committed)> {
        self.topics.iter().flat_map(|(topic, partitions)| {
            partitions.iter().map(move |(partition, committed)| (topic, *partition, committed))
        })
    }

    /// Folds an offset record in.
    pub fn replay(&mut self, topic: &Str, partition: i32, value: Option<&OffsetCommitValue>) {
        let Some(value) = value else {
            self.remove(topic, partition);
            return;
        };
        let committed = Committed {
            offset: value.offset,
            leader_epoch: value.leader_epoch,
            metadata: value.metadata.detached(),
            committed_ms: value.commit_timestamp,
            expires_ms: value.expire_timestamp,
            topic_id: value.topic_id,
        };
        match self.topics.get_mut(topic) {
            Some(partitions) => {
                partitions.insert(partition, committed);
            }
            None => {
                self.topics.insert(topic.detached(), BTreeMap::from([(partition, committed)]));
            }
        }
    }

    fn remove(&mut self, topic: &Str, partition: i32) {
        let Some(partitions) = self.topics.get_mut(topic) else { return };
        partitions.remove(&partition);
        if partitions.is_empty() {
            self.topics.remove(topic);
        }
    }
}
