//! Topics and partitions.

use protocol::types::{Str, Uuid};

use crate::config::topic::Overrides;

/// Name of the topic that holds the groups and their offsets.
pub const OFFSETS_TOPIC: &str = "__consumer_offsets";

/// A partition's state, as the controller decided it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Partition {
    /// Brokers that hold a copy, the preferred leader first.
    pub replicas: Vec<i32>,
    /// Those of them in sync.
    pub isr: Vec<i32>,
    /// The leader; -1 for none.
    pub leader: i32,
    /// Grows with every change of leader and with every restart of it.
    pub leader_epoch: i32,
    /// Grows with every change.
    pub partition_epoch: i32,
    /// Log directory of each replica.
    pub directories: Vec<Uuid>,
}

/// A topic.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Topic {
    /// Its name.
    pub name: Str,
    /// Its id; a topic of the same name made later has another.
    pub id: Uuid,
    /// By partition number, without gaps.
    pub partitions: Vec<Partition>,
    /// Configs set on it.
    pub configs: Overrides,
}

impl Topic {
    /// The partition of that number.
    pub fn partition(&self, index: i32) -> Option<&Partition> {
        self.partitions.get(usize::try_from(index).ok()?)
    }

    /// Whether clients are told that it is internal.
    pub fn is_internal(&self) -> bool {
        matches!(self.name.as_str(), OFFSETS_TOPIC | "__transaction_state" | "__share_group_state")
    }
}
