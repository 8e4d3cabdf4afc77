//! How many groups a shard's coordinators have, by state.

use super::coordinators::Coordinators;
use crate::group::classic::GroupState;
use crate::group::coordinator::Phase;
use crate::metrics::CommittedNumbers;
use crate::metrics::limits::{COMMITTED_LOOKED_AT_MAX, GROUPS_PER_STEP};

/// Counts of groups and of their coordinators.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GroupNumbers {
    /// In the order of [`GroupState::ALL`].
    pub states: [u64; GroupState::ALL.len()],
    /// Partitions whose coordinator reads its log.
    pub loading: u64,
    /// Partitions whose coordinator serves.
    pub active: u64,
    /// Partitions whose coordinator has ended and wasn't replaced, or could not read its log and will try again.
    pub lost: u64,
    /// Offsets that groups have committed, at most [`COMMITTED_LOOKED_AT_MAX`].
    pub committed: Vec<CommittedNumbers>,
}

impl Coordinators {
    /// Counts them, letting the shard's other work go on in between.
    pub async fn numbers(&self) -> GroupNumbers {
        let mut numbers = GroupNumbers::default();
        let mut looked_at = 0;
        for coordinator in self.all() {
            match coordinator.phase() {
                Phase::Loading => numbers.loading += 1,
                Phase::Active => numbers.active += 1,
                Phase::Failed | Phase::Lost => numbers.lost += 1,
            }
            coordinator.inspect(|decider| {
                for group in decider.groups() {
                    numbers.states[group.classic.state as usize] += 1;
                    looked_at += 1;
                    let room = COMMITTED_LOOKED_AT_MAX - numbers.committed.len();
                    let committed = group.offsets.all().take(room);
                    numbers.committed.extend(committed.map(|(topic, partition, committed)| {
                        CommittedNumbers {
                            group: group.classic.id.clone(),
                            topic: topic.clone(),
                            partition,
                            offset: committed.offset,
                        }
                    }));
                }
            });
            if looked_at >= GROUPS_PER_STEP {
                looked_at = 0;
                rt::yield_point().await;
            }
        }
        numbers
    }
}
