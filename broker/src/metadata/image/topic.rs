//! Topics and partitions.

use protocol::types::{Str, Uuid};

use crate::config::topic::Overrides;

/// Kafka's id of the directory of a replica whose broker is free to choose (KIP-858).
pub const DIRECTORY_UNASSIGNED: Uuid = Uuid::ZERO;
/// Kafka's id of the directory of a replica that was in one which is gone.
pub(super) const DIRECTORY_LOST: Uuid = reserved(1);
/// Kafka's id of the directory of a replica that was made before there were ids.
pub(super) const DIRECTORY_MIGRATING: Uuid = reserved(2);

const fn reserved(last: u8) -> Uuid {
    Uuid([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, last])
}

/// Name of the topic that holds the groups and their offsets.
pub const OFFSETS_TOPIC: &str = "__consumer_offsets";

/// Whether a topic of that name is one of the broker's own.
pub fn is_internal(topic: &str) -> bool {
    matches!(topic, OFFSETS_TOPIC | "__transaction_state" | "__share_group_state")
}

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

impl Partition {
    /// The log directory of the broker's replica; [`DIRECTORY_UNASSIGNED`] if that isn't known, or it has none.
    pub fn directory_of(&self, broker: i32) -> Uuid {
        let mut replicas = self.replicas.iter().zip(&self.directories);
        replicas.find(|(replica, _)| **replica == broker).map_or(DIRECTORY_UNASSIGNED, |(_, id)| *id)
    }
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
        is_internal(&self.name)
    }
}
