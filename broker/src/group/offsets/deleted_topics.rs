//! [`DeletedTopics`]: topics that are gone, and whose offsets are to follow.

use std::collections::{BTreeMap, BTreeSet};

use protocol::types::{Str, Uuid};

use super::delete::Bounded;
use crate::group::decider::Group;
use crate::group::limits::RETENTION_OFFSETS_PER_STEP;
use crate::group::record::Record;

/// Deleted topics by name. There may be several of one name, each made after the last was deleted.
type Topics = BTreeMap<Str, BTreeSet<Uuid>>;

/// Topics whose offsets are still to go: all groups are gone through once for those known when that began, in bounded steps, and then for
/// those that came meanwhile. Volatile: what a restart cuts off is found again by [`topics_with_offsets`].
///
/// The id zero stands for offsets that don't tell their topic's.
#[derive(Debug, Default)]
pub struct DeletedTopics {
    /// Those of the pass that runs.
    topics: Topics,
    /// The group it goes on with; none at its start.
    next: Option<Str>,
    /// Those for the next pass.
    later: Topics,
}

impl DeletedTopics {
    /// Takes more of them in.
    pub(crate) fn add(&mut self, topics: Vec<(Str, Uuid)>) {
        let pass = if self.next.is_none() { &mut self.topics } else { &mut self.later };
        for (name, id) in topics {
            pass.entry(name).or_default().insert(id);
        }
    }

    /// Tombstones of the next step, bounded in bytes and in topics looked at; and the group to go on with, if that doesn't end the pass. A
    /// topic made anew under the same name keeps its offsets.
    pub(crate) fn step(&self, groups: &BTreeMap<Str, Group>) -> (Vec<Record>, Option<Str>) {
        let mut batch = Bounded::default();
        let mut looked_at = 0usize;
        if self.topics.is_empty() {
            return (batch.records, None);
        }
        for (group_id, group) in groups.range(self.next.clone().unwrap_or_default()..) {
            if looked_at >= RETENTION_OFFSETS_PER_STEP {
                return (batch.records, Some(group_id.clone()));
            }
            looked_at += 1;
            for (topic, partitions) in group.offsets.topics() {
                looked_at += 1;
                let Some(ids) = self.topics.get(topic) else { continue };
                looked_at += partitions.len();
                for (partition, committed) in partitions {
                    let is_gone = ids.contains(&committed.topic_id);
                    if is_gone && !batch.push(Record::offset_tombstone(group_id, topic, *partition).ok()) {
                        return (batch.records, Some(group_id.clone()));
                    }
                }
            }
        }
        (batch.records, None)
    }

    /// A step is done. True if there is another.
    pub(crate) fn stepped(&mut self, next: Option<Str>) -> bool {
        if next.is_none() {
            self.topics = std::mem::take(&mut self.later);
        }
        self.next = next;
        !self.topics.is_empty()
    }
}

/// Topics that groups from `from` on have offsets of, each once, by name and id (zero where an offset doesn't tell it); and the group to go on
/// with, if those weren't all. Looks at a bounded number of offsets.
pub(crate) fn topics_with_offsets(
    groups: &BTreeMap<Str, Group>,
    from: &Str,
) -> (BTreeSet<(Str, Uuid)>, Option<Str>) {
    let (mut topics, mut looked_at) = (BTreeSet::new(), 0usize);
    for (group_id, group) in groups.range(from.clone()..) {
        if looked_at >= RETENTION_OFFSETS_PER_STEP {
            return (topics, Some(group_id.clone()));
        }
        looked_at += 1;
        for (topic, partitions) in group.offsets.topics() {
            looked_at += partitions.len();
            let ids: BTreeSet<Uuid> = partitions.values().map(|committed| committed.topic_id).collect();
            topics.extend(ids.into_iter().map(|id| (topic.clone(), id)));
        }
    }
    (topics, None)
}
