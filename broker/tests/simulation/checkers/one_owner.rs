//! [`OneOwner`]: within a generation a partition has one owner.

use std::collections::BTreeMap;

use protocol::types::Str;

/// Who owned what in each generation of one group.
#[derive(Debug, Default)]
pub(crate) struct OneOwner {
    owners: BTreeMap<(i32, i32), Str>,
}

impl OneOwner {
    /// The coordinator gave these partitions to a member.
    pub(crate) fn assigned(&mut self, generation: i32, member: &Str, partitions: &[i32]) {
        for partition in partitions {
            let owner = self.owners.entry((generation, *partition)).or_insert_with(|| member.clone());
            assert_eq!(owner, member, "partition {partition} has two owners in generation {generation}");
        }
    }

    /// Generations in which anything was assigned.
    pub(crate) fn generations(&self) -> usize {
        let mut generations: Vec<i32> = self.owners.keys().map(|(generation, _)| *generation).collect();
        generations.dedup();
        generations.len()
    }
}
