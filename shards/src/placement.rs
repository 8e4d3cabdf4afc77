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

/// Where a partition is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Placed {
    /// Its shard.
    pub owner: ShardId,
    /// Whether somebody put it there. The others may be spread anew when the number of shards changes.
    pub on_purpose: bool,
}

/// The map from partitions to the shards of this node.
///
/// Every shard keeps its own and applies the same changes in the same order, so that all agree without asking. It is the node's own
/// business: files of partitions don't know the shard count, and a start with another number of cores spreads the partitions anew.
#[derive(Debug, Clone)]
pub struct Placement {
    placed: BTreeMap<PartitionKey, Placed>,
    /// Partitions of each shard.
    counts: Vec<usize>,
    changes: u64,
}

impl Placement {
    /// No partitions yet, `shards` shards. At least one.
    pub fn new(shards: u16) -> Placement {
        assert!(shards > 0, "a node has a shard");
        Placement { placed: BTreeMap::new(), counts: vec![0; usize::from(shards)], changes: 0 }
    }

    /// Begins with what was `remembered` of an earlier process; what names a shard that isn't there is left out.
    pub fn restored(shards: u16, remembered: impl IntoIterator<Item = (PartitionKey, Placed)>) -> Placement {
        let mut placement = Placement::new(shards);
        for (key, placed) in remembered.into_iter().filter(|(_, placed)| placed.owner.0 < shards) {
            placement.set(key, placed);
        }
        placement.changes = 0;
        placement
    }

    /// Gives a partition to the shard with the fewest, the lowest of them. One that is placed already stays.
    pub fn place(&mut self, key: PartitionKey) -> ShardId {
        if let Some(placed) = self.placed.get(&key) {
            return placed.owner;
        }
        let fewest =
            self.counts.iter().enumerate().min_by_key(|(_, count)| **count).map_or(0, |(shard, _)| shard);
        let owner = ShardId(fewest as u16);
        self.set(key, Placed { owner, on_purpose: false });
        owner
    }

    /// Puts a partition somewhere on purpose.
    ///
    /// # Panics
    /// There is no such shard.
    pub fn put(&mut self, key: PartitionKey, owner: ShardId) {
        self.set(key, Placed { owner, on_purpose: true });
    }

    fn set(&mut self, key: PartitionKey, placed: Placed) {
        self.remove(&key);
        self.counts[usize::from(placed.owner.0)] += 1;
        self.placed.insert(key, placed);
        self.changes += 1;
    }

    /// Forgets a partition that is deleted.
    pub fn remove(&mut self, key: &PartitionKey) {
        if let Some(placed) = self.placed.remove(key) {
            self.counts[usize::from(placed.owner.0)] -= 1;
            self.changes += 1;
        }
    }

    /// Who owns it.
    pub fn owner(&self, key: &PartitionKey) -> Option<ShardId> {
        self.placed.get(key).map(|placed| placed.owner)
    }

    /// Whether somebody put it where it is.
    pub fn is_on_purpose(&self, key: &PartitionKey) -> bool {
        self.placed.get(key).is_some_and(|placed| placed.on_purpose)
    }

    /// All partitions.
    pub fn all(&self) -> impl Iterator<Item = (PartitionKey, Placed)> {
        self.placed.iter().map(|(key, placed)| (*key, *placed))
    }

    /// Counts changes since it was made or restored.
    pub fn changes(&self) -> u64 {
        self.changes
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

    #[test]
    fn what_is_remembered_counts_and_is_no_change() {
        let placed = |shard| Placed { owner: ShardId(shard), on_purpose: true };
        let remembered = [(key(0), placed(0)), (key(1), placed(0)), (key(2), placed(2))];
        let mut placement = Placement::restored(2, remembered);
        assert_eq!((placement.changes(), placement.owner(&key(2))), (0, None));
        assert_eq!([3, 4, 5].map(|p| placement.place(key(p)).0), [1, 1, 0]);
        placement.put(key(5), ShardId(1));
        assert_eq!(placement.place(key(6)), ShardId(0));
        let moved: Vec<i32> =
            placement.all().filter(|(_, placed)| placed.on_purpose).map(|(key, _)| key.partition).collect();
        assert_eq!(moved, [0, 1, 5]);
    }
}
