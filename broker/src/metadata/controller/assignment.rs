//! Which brokers hold a partition.

use protocol::error::ErrorCode;
use protocol::internal::PartitionRecord;
use protocol::types::Uuid;

use super::dir_loads::DirLoads;
use super::fault::Fault;
use crate::metadata::image::Image;

/// The replicas of one partition, all of them registered brokers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Assignment {
    pub(super) replicas: Vec<i32>,
    pub(super) isr: Vec<i32>,
}

impl Assignment {
    /// Checks replicas that a client chose.
    pub(super) fn manual(
        image: &Image,
        partition: i32,
        brokers: &[i32],
        replication_factor: Option<usize>,
    ) -> Result<Self, Fault> {
        let refuse = |text: String| Err(Fault::new(ErrorCode::INVALID_REPLICA_ASSIGNMENT, text));
        if brokers.is_empty() {
            return refuse("The manual partition assignment includes an empty replica list.".into());
        }
        for (i, broker) in brokers.iter().enumerate() {
            if brokers[..i].contains(broker) {
                return refuse(format!(
                    "The manual partition assignment includes the broker {broker} more than once."
                ));
            }
            if !image.brokers.contains_key(broker) {
                return refuse(format!(
                    "The manual partition assignment includes broker {broker}, but no such broker is registered."
                ));
            }
        }
        let count = brokers.len();
        if let Some(others) = replication_factor.filter(|others| *others != count) {
            return refuse(format!(
                "The manual partition assignment includes a partition with {count} replica(s), but this is not \
                 consistent with previous partitions, which have {others} replica(s)."
            ));
        }
        let isr = active(image, brokers);
        if isr.is_empty() {
            return refuse(format!(
                "All brokers specified in the manual partition assignment for partition {partition} are fenced or in \
                 controlled shutdown."
            ));
        }
        Ok(Self { replicas: brokers.to_vec(), isr })
    }

    /// Chooses replicas for `partitions` partitions: the first replica of the `n`th is the `n`th active broker from `start` on, round and
    /// round.
    pub(super) fn automatic(
        image: &Image,
        partitions: usize,
        replication_factor: usize,
        start: usize,
    ) -> Result<Vec<Self>, Fault> {
        let brokers: Vec<i32> = image.brokers.keys().copied().collect();
        let active = active(image, &brokers);
        let refuse = |why: &str| {
            let text = format!("Unable to replicate the partition {replication_factor} time(s): {why}");
            Err(Fault::new(ErrorCode::INVALID_REPLICATION_FACTOR, text))
        };
        if replication_factor > brokers.len() {
            return refuse(&format!(
                "The target replication factor of {replication_factor} cannot be reached because only {} broker(s) \
                 are registered or some brokers have all their log directories cordoned.",
                brokers.len()
            ));
        }
        if active.is_empty() {
            return refuse("All brokers are currently fenced, or have all their log directories cordoned.");
        }
        // Brokers that are down complete the number; they catch up when they are back.
        let missing = replication_factor.saturating_sub(active.len());
        let down = brokers.into_iter().filter(|broker| !active.contains(broker)).take(missing);
        let down: Vec<i32> = down.collect();
        let first = start % active.len();
        let assignments = (0..partitions).map(|partition| {
            let round = (0..active.len()).map(|i| active[(first + partition + i) % active.len()]);
            let isr: Vec<i32> = round.take(replication_factor).collect();
            Self { replicas: isr.iter().chain(&down).copied().collect(), isr }
        });
        Ok(assignments.collect())
    }

    /// The record of a new partition with these replicas, each in its broker's log directory with the fewest.
    pub(super) fn record(
        self,
        topic_id: Uuid,
        partition_id: i32,
        dirs: &mut DirLoads<'_>,
    ) -> PartitionRecord {
        PartitionRecord {
            partition_id,
            topic_id,
            leader: self.isr.first().copied().unwrap_or(-1),
            directories: self.replicas.iter().map(|broker| dirs.choose(*broker)).collect(),
            replicas: self.replicas,
            isr: self.isr,
            leader_epoch: 0,
            partition_epoch: 0,
            ..Default::default()
        }
    }
}

fn active(image: &Image, brokers: &[i32]) -> Vec<i32> {
    let is_active = |id: &&i32| image.brokers.get(*id).is_some_and(|broker| broker.is_active());
    brokers.iter().filter(is_active).copied().collect()
}
