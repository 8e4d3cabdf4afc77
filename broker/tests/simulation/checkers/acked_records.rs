//! [`AckedRecords`]: no acknowledged record is lost, none is there twice, each producer's are in order.

use std::collections::BTreeMap;

use crate::batch::RecordId;
use crate::topics::{Place, Topic};

/// What is known of a record that was sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    /// No answer, or one that leaves it open.
    Unknown,
    /// At this offset; none if the broker knew it for a duplicate whose offset it has forgotten.
    Acked(Option<i64>),
    /// It was acknowledged, then the power went, and its topic promises nothing for that: there, or not.
    AtRisk(Option<i64>),
}

/// The records of all producers, by partition.
#[derive(Debug, Default)]
pub(crate) struct AckedRecords {
    sent: BTreeMap<Place, BTreeMap<RecordId, Fate>>,
    /// Counts losses of power.
    power_cuts: u32,
}

/// When something was asked: an answer may arrive after the power went at the broker that sent it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Asked {
    power_cuts: u32,
}

impl AckedRecords {
    /// A producer is about to send a new record.
    pub(crate) fn sent(&mut self, place: Place, record: RecordId) {
        let before = self.sent.entry(place).or_default().insert(record, Fate::Unknown);
        assert_eq!(before, None, "{record} is sent as new twice");
    }

    /// A producer is about to ask.
    pub(crate) fn ask(&self) -> Asked {
        Asked { power_cuts: self.power_cuts }
    }

    /// The broker acknowledged a record.
    pub(crate) fn acked(&mut self, asked: Asked, place: Place, record: RecordId, offset: Option<i64>) {
        let fate = self.sent.entry(place).or_default().get_mut(&record);
        let fate = fate.unwrap_or_else(|| panic!("{place}: {record} is acknowledged and wasn't sent"));
        assert_eq!(*fate, Fate::Unknown, "{place}: {record} is acknowledged twice, now at {offset:?}");
        let safe = asked.power_cuts == self.power_cuts || place.topic.promise().acks_survive_power_cuts();
        *fate = if safe { Fate::Acked(offset) } else { Fate::AtRisk(offset) };
    }

    /// The node lost power.
    pub(crate) fn power_cut(&mut self) {
        self.power_cuts += 1;
        for (place, records) in &mut self.sent {
            if place.topic.promise().acks_survive_power_cuts() {
                continue;
            }
            for fate in records.values_mut() {
                if let Fate::Acked(offset) = *fate {
                    *fate = Fate::AtRisk(offset);
                }
            }
        }
    }

    /// The end that a partition has at least: one after its last acknowledged record.
    pub(crate) fn end_min(&self, place: Place) -> i64 {
        let offsets =
            self.sent.get(&place).into_iter().flat_map(BTreeMap::values).filter_map(|fate| match fate {
                Fate::Acked(offset) => *offset,
                Fate::Unknown | Fate::AtRisk(_) => None,
            });
        offsets.max().map_or(0, |last| last + 1)
    }

    /// How many records of a topic are acknowledged for good.
    pub(crate) fn count(&self, topic: Topic) -> usize {
        let of_topic = self.sent.iter().filter(|(place, _)| place.topic == topic);
        of_topic
            .flat_map(|(_, records)| records.values())
            .filter(|fate| matches!(fate, Fate::Acked(_)))
            .count()
    }

    /// Compares with a partition's whole content: offsets and records.
    pub(crate) fn check(&self, place: Place, log: &[(i64, RecordId)]) {
        let nothing = BTreeMap::new();
        let sent = self.sent.get(&place).unwrap_or(&nothing);
        let mut found = BTreeMap::new();
        let mut last_of_producer = BTreeMap::new();
        for &(offset, record) in log {
            assert!(sent.contains_key(&record), "{place}: {record} at {offset} was sent by nobody");
            if let Some(first) = found.insert(record, offset) {
                panic!("{place}: {record} is there twice, at {first} and {offset}");
            }
            let before = last_of_producer.insert(record.producer, record.number);
            assert!(
                before < Some(record.number),
                "{place}: {record} at {offset} comes after number {before:?}"
            );
        }
        for (record, fate) in sent {
            let at = found.get(record).copied();
            match *fate {
                Fate::Unknown => {}
                Fate::Acked(None) => assert!(at.is_some(), "{place}: {record} was acknowledged and is lost"),
                Fate::Acked(offset) => {
                    assert_eq!(at, offset, "{place}: {record} was acknowledged at the one, is at the other");
                }
                Fate::AtRisk(offset) => {
                    let ok = at.is_none() || offset.is_none() || at == offset;
                    assert!(ok, "{place}: {record} was acknowledged at {offset:?}, is at {at:?}");
                }
            }
        }
    }
}
