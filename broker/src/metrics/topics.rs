//! [`TopicTraffic`]: traffic by topic, for a bounded number of topics.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use protocol::types::{Str, Uuid};
use shards::Traffic;

use super::limits::{OTHER_TOPICS, TOPICS_MAX};

/// Traffic of a shard's partitions by their topic.
///
/// A topic has counts of its own if there was room when it was first seen. All shards see all topics in the order of the metadata, so that they agree on
/// which those are. Counts of the others go into one sum, which outlives them: it never falls.
#[derive(Debug, Default)]
pub struct TopicTraffic {
    topics: RefCell<Topics>,
}

#[derive(Debug, Default)]
struct Topics {
    /// All topics there are; without a name and counts of their own those that came too late.
    by_id: BTreeMap<Uuid, Option<(Str, Rc<Traffic>)>>,
    named: usize,
    others: Rc<Traffic>,
}

/// Counts of one topic on one shard.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TopicNumbers {
    /// Its name, or [`OTHER_TOPICS`].
    pub name: Str,
    /// See [`Traffic::records_in`].
    pub records_in: u64,
    /// See [`Traffic::bytes_in`].
    pub bytes_in: u64,
    /// See [`Traffic::records_out`].
    pub records_out: u64,
    /// See [`Traffic::bytes_out`].
    pub bytes_out: u64,
}

impl TopicNumbers {
    /// Adds another shard's counts of the same topic.
    pub fn add(&mut self, other: &TopicNumbers) {
        self.records_in += other.records_in;
        self.bytes_in += other.bytes_in;
        self.records_out += other.records_out;
        self.bytes_out += other.bytes_out;
    }
}

impl TopicTraffic {
    /// Where the partitions of a topic count. To be called for every topic of the metadata, in its order.
    pub fn of(&self, id: Uuid, name: &Str) -> Rc<Traffic> {
        let mut topics = self.topics.borrow_mut();
        let topics = &mut *topics;
        // Not even a topic of that name may be taken for the sum.
        let has_room = topics.named < TOPICS_MAX && **name != *OTHER_TOPICS;
        let own = topics.by_id.entry(id).or_insert_with(|| {
            topics.named += usize::from(has_room);
            has_room.then(|| (name.detached(), Rc::default()))
        });
        own.as_ref().map_or_else(|| Rc::clone(&topics.others), |(_, own)| Rc::clone(own))
    }

    /// The topic is deleted.
    pub fn forget(&self, id: Uuid) {
        let mut topics = self.topics.borrow_mut();
        let own = topics.by_id.remove(&id).flatten();
        topics.named -= usize::from(own.is_some());
    }

    /// All counts: one entry a named topic, and one for the others.
    pub fn numbers(&self) -> Vec<TopicNumbers> {
        let topics = self.topics.borrow();
        let named = topics.by_id.values().flatten().map(|(name, traffic)| numbers(name.clone(), traffic));
        named.chain([numbers(Str::from_static(OTHER_TOPICS), &topics.others)]).collect()
    }
}

fn numbers(name: Str, traffic: &Traffic) -> TopicNumbers {
    TopicNumbers {
        name,
        records_in: traffic.records_in.get(),
        bytes_in: traffic.bytes_in.get(),
        records_out: traffic.records_out.get(),
        bytes_out: traffic.bytes_out.get(),
    }
}
