//! Which shard owns a partition.

use std::collections::BTreeMap;

use protocol::types::Uuid;
use rt::ShardId;

/// A partition of a topic. The topic's id, not its name: a topic made again under its old name is another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PartitionKey {
    /// The topic.
    pub topic_id: Uuid,
    /// Number of the partition.
    pub partition: i32,
}

/// The map from partitions to the shards of this node.
///
/// Every shard keeps its own and applies the same changes in the same order, so that all agree without asking. It is local to the
/// process: files don't know the shard count, and a start with another number of cores spreads the partitions anew.
#[derive(Debug, Clone)]
pub struct Placement {
    owners: BTreeMap<PartitionKey, ShardId>,
    /// Partitions of each shard.
    counts: Vec<usize>,
}

impl Placement {
    /// No partitions yet, `shards` shards. At least one.
    pub fn new(shards: u16) -> Placement {
        assert!(shards > 0, "a node has a shard");
        Placement { owners: BTreeMap::new(), counts: vec![0; usize::from(shards)] }
    }

    /// Gives a partition to the shard with the fewest, the lowest of them. One that is placed already stays.
    pub fn place(&mut self, key: PartitionKey) -> ShardId {
        if let Some(owner) = self.owners.get(&key) {
            return *owner;
        }
        let fewest =
            self.counts.iter().enumerate().min_by_key(|(_, count)| **count).map_or(0, |(shard, _)| shard);
        self.counts[fewest] += 1;
        let owner = ShardId(fewest as u16);
        self.owners.insert(key, owner);
        owner
    }

    /// Forgets a partition that is deleted.
    pub fn remove(&mut self, key: &PartitionKey) {
        if let Some(owner) = self.owners.remove(key) {
            self.counts[usize::from(owner.0)] -= 1;
        }
    }

    /// Who owns it.
    pub fn owner(&self, key: &PartitionKey) -> Option<ShardId> {
        self.owners.get(key).copied()
    }

    /// Number of shards.
    pub fn shards(&self) -> u16 {
        self.counts.len() as u16
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(partition: i32) -> PartitionKey {
        PartitionKey { topic_id: Uuid::from_random([7; 16]), partition }
    }

    #[test]
    fn new_partitions_go_to_the_shard_with_the_fewest() {
        let mut placement = Placement::new(2);
        let owners: Vec<u16> = (0..4).map(|p| placement.place(key(p)).0).collect();
        assert_eq!(owners, [0, 1, 0, 1]);
        placement.remove(&key(1));
        assert_eq!(placement.place(key(9)), ShardId(1));
        assert_eq!(placement.owner(&key(1)), None);
    }

    #[test]
    fn a_placed_partition_stays() {
        let mut placement = Placement::new(3);
        let first = placement.place(key(5));
        placement.place(key(6));
        assert_eq!(placement.place(key(5)), first);
    }
}
