//! [`Coordinators`]: which coordinators run on a shard.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use protocol::types::{Str, Uuid};
use rt::TaskSet;
use shards::Partition;

use super::clock::ShardClock;
use super::log::PartitionLog;
use crate::config::broker::GroupLimits;
use crate::group::coordinator::Phase;
use crate::group::{GroupConfig, GroupCoordinator};
use crate::server::ShardState;

/// The coordinator of one partition, over its log.
pub(super) type ShardCoordinator = GroupCoordinator<PartitionLog, ShardClock>;

/// The coordinators of a shard, by partition of `__consumer_offsets`. Each loads and runs in a task of its own.
#[derive(Debug)]
pub struct Coordinators {
    config: Rc<GroupConfig>,
    running: RefCell<BTreeMap<i32, Running>>,
    tasks: TaskSet,
}

#[derive(Debug, Clone)]
pub(super) struct Running {
    pub(super) coordinator: ShardCoordinator,
    pub(super) log: PartitionLog,
}

impl Coordinators {
    /// None yet.
    pub fn new(limits: &GroupLimits) -> Self {
        let config = Rc::new(group_config(limits));
        Self { config, running: RefCell::default(), tasks: TaskSet::new() }
    }

    /// Makes sure that a coordinator runs for this partition of `__consumer_offsets`, which this shard leads from now on. One that runs for an
    /// earlier leadership, or for a deleted topic of that name, ends.
    pub fn ensure(&self, shard: &ShardState, partition: i32, leader: Rc<Partition>) {
        let is_current = |running: &Running| {
            let of = running.log.partition();
            of.key() == leader.key()
                && of.leader_epoch() == leader.leader_epoch()
                && running.coordinator.phase() != Phase::Lost
        };
        if self.running.borrow().get(&partition).is_some_and(is_current) {
            return;
        }
        self.resign(partition);
        tracing::debug!(shard = %shard.id, partition, "a group coordinator starts");
        let log = PartitionLog::new(leader);
        let coordinator = GroupCoordinator::new(log.clone(), ShardClock, Rc::clone(&self.config));
        let running = Running { coordinator: coordinator.clone(), log: log.clone() };
        self.running.borrow_mut().insert(partition, running);
        self.tasks.spawn(async move {
            // The space ahead is kept only as long as the coordinator runs.
            let top_up = rt::spawn(log.clone().top_up());
            if let Err(error) = coordinator.run().await {
                tracing::error!(partition, %error, "a group coordinator couldn't load");
            }
            drop(top_up);
            log.release();
        });
    }

    /// Ends the coordinator of a partition, if one runs: who waits for it gets NOT_COORDINATOR.
    pub fn resign(&self, partition: i32) {
        let running = self.running.borrow_mut().remove(&partition);
        if let Some(running) = running {
            running.coordinator.resign();
        }
    }

    /// A topic is gone: offsets of it go too, in the background. If it was `__consumer_offsets`, its coordinators end.
    pub fn topic_deleted(&self, name: &str, topic_id: Uuid) {
        self.running.borrow_mut().retain(|_, running| {
            let stays = running.log.partition().key().topic_id != topic_id;
            if !stays {
                running.coordinator.resign();
            }
            stays
        });
        let coordinators: Vec<(i32, ShardCoordinator)> =
            self.running.borrow().iter().map(|(at, running)| (*at, running.coordinator.clone())).collect();
        if coordinators.is_empty() {
            return;
        }
        let topics = vec![(Str::from(name), topic_id)];
        self.tasks.spawn(async move {
            for (partition, coordinator) in coordinators {
                let code = coordinator.topics_deleted(topics.clone()).await;
                if code.is_error() {
                    tracing::warn!(partition, %code, "offsets of a deleted topic stay until they expire");
                }
            }
        });
    }

    /// Ends them all, and waits for their tasks.
    pub async fn stop(&self) {
        let running = self.running.take();
        for running in running.into_values() {
            running.coordinator.resign();
        }
        self.tasks.cancel_all().await;
    }

    /// All of them, in the order of their partitions.
    pub(super) fn all(&self) -> Vec<ShardCoordinator> {
        self.running.borrow().values().map(|running| running.coordinator.clone()).collect()
    }

    /// The coordinator of a partition.
    pub(super) fn get(&self, partition: i32) -> Option<Running> {
        self.running.borrow().get(&partition).cloned()
    }
}

fn group_config(limits: &GroupLimits) -> GroupConfig {
    GroupConfig {
        min_session_timeout_ms: limits.min_session_timeout_ms,
        max_session_timeout_ms: limits.max_session_timeout_ms,
        initial_rebalance_delay_ms: limits.initial_rebalance_delay_ms,
        max_size: limits.max_size,
        offset_metadata_max_bytes: limits.offset_metadata_max_bytes,
        offsets_retention_ms: limits.offsets_retention_ms,
        offsets_retention_check_interval_ms: i32::try_from(limits.offsets_retention_check_interval_ms)
            .unwrap_or(i32::MAX),
        ..GroupConfig::default()
    }
}
