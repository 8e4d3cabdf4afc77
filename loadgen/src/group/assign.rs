//! What the leader of a group decides.

use std::collections::BTreeMap;

use bytes::Bytes;
use protocol::internal::consumer_protocol_assignment::TopicPartition;
use protocol::internal::{ConsumerProtocolAssignment, ConsumerProtocolSubscription, encode_versioned};
use protocol::wire::{DecodeError, EncodeError};

use crate::engine::Layout;

/// Version of subscriptions and assignments written: every consumer reads it.
const VERSION: i16 = 1;

/// What a member says when it joins: that it reads all topics of the load.
pub(super) fn subscription(layout: &Layout) -> Result<Bytes, EncodeError> {
    let topics = layout.topics().iter().map(|topic| topic.name.clone()).collect();
    encode_versioned(&ConsumerProtocolSubscription { topics, ..Default::default() }, VERSION)
}

/// Deals the slots out, one to each member in turn; members by their ids.
pub(super) fn deal(members: &[String], slots: u32) -> BTreeMap<String, Vec<u32>> {
    let mut members = members.to_vec();
    members.sort();
    let mut dealt: BTreeMap<String, Vec<u32>> =
        members.iter().map(|member| (member.clone(), Vec::new())).collect();
    if members.is_empty() {
        return dealt;
    }
    for slot in 0..slots {
        let member = &members[slot as usize % members.len()];
        dealt.entry(member.clone()).or_default().push(slot);
    }
    dealt
}

/// As SyncGroup carries it.
pub(super) fn encode(layout: &Layout, slots: &[u32]) -> Result<Bytes, EncodeError> {
    let mut topics: BTreeMap<u32, TopicPartition> = BTreeMap::new();
    for slot in slots {
        let (topic, partition) = layout.place(*slot);
        let entry = topics
            .entry(topic.first)
            .or_insert_with(|| TopicPartition { topic: topic.name.clone(), ..Default::default() });
        entry.partitions.push(partition);
    }
    let assigned_partitions = topics.into_values().collect();
    encode_versioned(&ConsumerProtocolAssignment { assigned_partitions, ..Default::default() }, VERSION)
}

/// The slots of an assignment; partitions that aren't the load's are left out. Empty bytes are an empty assignment.
pub(super) fn decode(layout: &Layout, bytes: &Bytes) -> Result<Vec<u32>, DecodeError> {
    if bytes.is_empty() {
        return Ok(Vec::new());
    }
    let (_, assignment) = protocol::internal::decode_versioned_lenient::<ConsumerProtocolAssignment>(bytes)?;
    let slots = assignment.assigned_partitions.iter().flat_map(|topic| {
        let found = topic.partitions.iter();
        found.filter_map(|partition| layout.find(&topic.topic, Default::default(), *partition))
    });
    Ok(slots.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_slot_is_dealt_once_and_survives_the_wire() {
        let mut layout = Layout::default();
        layout.add("a".into(), Default::default(), 3);
        layout.add("b".into(), Default::default(), 4);
        let members = ["m2".to_owned(), "m1".to_owned(), "m3".to_owned()];
        let dealt = deal(&members, layout.slots());
        assert_eq!(dealt["m1"], [0, 3, 6]);
        let mut all: Vec<u32> = Vec::new();
        for slots in dealt.values() {
            let decoded = decode(&layout, &encode(&layout, slots).unwrap()).unwrap();
            assert_eq!(&decoded, slots);
            all.extend(decoded);
        }
        all.sort();
        assert_eq!(all, (0..7).collect::<Vec<_>>());
        assert!(decode(&layout, &Bytes::new()).unwrap().is_empty());
        assert!(deal(&[], 7).is_empty());
    }
}
