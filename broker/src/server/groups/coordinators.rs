//! [`Coordinators`]: which coordinators run on a shard.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;

use protocol::types::{Str, Uuid};
use rt::TaskSet;
use rt::sync::Budget;
use shards::Partition;

use super::clock::ShardClock;
use super::log::PartitionLog;
use crate::group::coordinator::Phase;
use crate::group::{GroupConfig, GroupCoordinator};

/// The coordinator of one partition, over its log.
pub(super) type ShardCoordinator = GroupCoordinator<PartitionLog, ShardClock>;

/// Coordinators of a shard that load at the same time: each reads its log in buffers of `LOAD_READ_BYTES`.
const LOADS_MAX: usize = 4;
/// Pauses before a log that couldn't be read is tried again: doubled from the first to the last.
const RETRY_MIN: Duration = Duration::from_secs(1);
const RETRY_MAX: Duration = Duration::from_secs(60);

/// The coordinators of a shard, by partition of `__consumer_offsets`. Each loads and runs in a task of its own, and is loaded anew when its log
/// couldn't be read: until then requests get NOT_COORDINATOR, and clients ask again.
#[derive(Debug)]
pub struct Coordinators {
    config: Rc<GroupConfig>,
    running: RefCell<BTreeMap<i32, Running>>,
    loads: Budget,
    tasks: TaskSet,
}

#[derive(Debug)]
struct Running {
    coordinator: ShardCoordinator,
    log: PartitionLog,
}

impl Coordinators {
    /// None yet.
    pub fn new(config: GroupConfig) -> Self {
        let (config, running) = (Rc::new(config), RefCell::default());
        Self { config, running, loads: Budget::new(LOADS_MAX), tasks: TaskSet::new() }
    }

    /// Makes sure that a coordinator runs for this partition of `__consumer_offsets`, which this shard leads from now on. One that runs for an
    /// earlier leadership, or for a deleted topic of that name, ends.
    pub fn ensure(&self, partition: i32, leader: Rc<Partition>) {
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
        tracing::debug!(partition, "a group coordinator starts");
        let log = PartitionLog::new(leader);
        let coordinator = GroupCoordinator::new(log.clone(), ShardClock, Rc::clone(&self.config));
        self.running.borrow_mut().insert(partition, Running { coordinator: coordinator.clone(), log });
        self.tasks.spawn(drive(partition, coordinator, self.loads.clone()));
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
        for running in self.running.borrow().values() {
            let name = Str::from(name);
            // Also what doesn't tell the topic's id.
            running.coordinator.topics_deleted(vec![(name.clone(), topic_id), (name, Uuid::ZERO)]);
        }
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
    pub(super) fn get(&self, partition: i32) -> Option<ShardCoordinator> {
        self.running.borrow().get(&partition).map(|running| running.coordinator.clone())
    }
}

/// Loads and drives a coordinator until its leadership ends.
async fn drive(partition: i32, coordinator: ShardCoordinator, loads: Budget) {
    let mut pause = RETRY_MIN;
    loop {
        let turn = loads.take(1).await;
        let Err(error) = coordinator.run(turn).await else { return };
        tracing::error!(partition, %error, ?pause, "a group coordinator couldn't load; it is tried again");
        rt::sleep(pause).await;
        pause = (pause * 2).min(RETRY_MAX);
    }
}
