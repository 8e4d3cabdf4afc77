//! [`DeletedTopics`]: topics that are gone, and whose offsets are to follow.

use std::collections::{BTreeMap, BTreeSet};

use protocol::types::{Str, Uuid};

use super::delete::Bounded;
use super::store::Committed;
use crate::group::decider::Group;
use crate::group::limits::RETENTION_OFFSETS_PER_STEP;
use crate::group::record::Record;

/// Deleted topics by name. There may be several of one name, each made after the last was deleted.
type Topics = BTreeMap<Str, BTreeSet<Uuid>>;

/// An offset among those of all groups, there or not. The default is before all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OffsetPlace {
    group: Str,
    topic: Str,
    partition: i32,
}

impl OffsetPlace {
    fn start_of(group: &Str) -> Self {
        Self { group: group.clone(), topic: Str::default(), partition: i32::MIN }
    }
}

impl Default for OffsetPlace {
    fn default() -> Self {
        Self::start_of(&Str::default())
    }
}

/// Topics whose offsets are still to go: all groups are gone through once for those known when that began, in bounded steps, and then for
/// those that came meanwhile. Volatile: what a restart cuts off is found again by [`topics_with_offsets`].
///
/// The id zero stands for offsets that don't tell their topic's.
#[derive(Debug, Default)]
pub struct DeletedTopics {
    /// Those of the pass that runs.
    topics: Topics,
    /// Where it goes on; none at its start.
    next: Option<OffsetPlace>,
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

    /// Tombstones of the next step, bounded in bytes and in offsets looked at; and the place to go on at, if that doesn't end the pass. A
    /// topic made anew under the same name keeps its offsets.
    pub(crate) fn step(&self, groups: &BTreeMap<Str, Group>) -> (Vec<Record>, Option<OffsetPlace>) {
        let mut batch = Bounded::default();
        if self.topics.is_empty() {
            return (batch.records, None);
        }
        let from = self.next.clone().unwrap_or_default();
        let is_wanted = |topic: &Str| self.topics.contains_key(topic);
        let next = walk(groups, from, is_wanted, |group, topic, partition, committed| {
            let is_gone = self.topics.get(topic).is_some_and(|ids| ids.contains(&committed.topic_id));
            !is_gone || batch.push(Record::offset_tombstone(group, topic, partition).ok())
        });
        (batch.records, next)
    }

    /// A step is done. True if there is another.
    pub(crate) fn stepped(&mut self, next: Option<OffsetPlace>) -> bool {
        if next.is_none() {
            self.topics = std::mem::take(&mut self.later);
        }
        self.next = next;
        !self.topics.is_empty()
    }
}

/// Topics that offsets from `from` on are of, each once, by name and id (zero where an offset doesn't tell it); and the place to go on at, if
/// those weren't all. Looks at a bounded number of offsets.
pub(crate) fn topics_with_offsets(
    groups: &BTreeMap<Str, Group>,
    from: OffsetPlace,
) -> (BTreeSet<(Str, Uuid)>, Option<OffsetPlace>) {
    let mut topics = BTreeSet::new();
    let next = walk(
        groups,
        from,
        |_| true,
        |_, topic, _, committed| {
            topics.insert((topic.clone(), committed.topic_id));
            true
        },
    );
    (topics, next)
}

/// Shows `visit` the offsets from `from` on, of the topics that are wanted, until it has enough. Gives the place to go on at, if there are more
/// than it took or than [`RETENTION_OFFSETS_PER_STEP`]; also one group may have more.
fn walk(
    groups: &BTreeMap<Str, Group>,
    from: OffsetPlace,
    is_wanted: impl Fn(&Str) -> bool,
    mut visit: impl FnMut(&Str, &Str, i32, &Committed) -> bool,
) -> Option<OffsetPlace> {
    let mut looked_at = 0usize;
    for (group, state) in groups.range(from.group.clone()..) {
        let begin = if *group == from.group { from.clone() } else { OffsetPlace::start_of(group) };
        if looked_at >= RETENTION_OFFSETS_PER_STEP {
            return Some(begin);
        }
        looked_at += 1;
        for (topic, partitions) in state.offsets.topics_from(&begin.topic) {
            let first = if *topic == begin.topic { begin.partition } else { i32::MIN };
            let place = |partition| OffsetPlace { group: group.clone(), topic: topic.clone(), partition };
            if looked_at >= RETENTION_OFFSETS_PER_STEP {
                return Some(place(first));
            }
            looked_at += 1;
            if !is_wanted(topic) {
                continue;
            }
            for (partition, committed) in partitions.range(first..) {
                if looked_at >= RETENTION_OFFSETS_PER_STEP || !visit(group, topic, *partition, committed) {
                    return Some(place(*partition));
                }
                looked_at += 1;
            }
        }
    }
    None
}
