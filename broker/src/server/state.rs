//! [`ShardState`]: all that a shard holds.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use protocol::types::{Str, Uuid};
use rt::sync::{Budget, Notify};
use rt::{ShardId, TaskSet};
use shards::{Mesh, Partition, PartitionKey, Placement};

use super::connections::Connections;
use super::core_move::Held;
use super::failure::Failures;
use super::fetch_session::FetchSessions;
use super::frame::FrameMemory;
use super::groups::Coordinators;
use super::log_dirs::LogDirs;
use super::moving::Moves;
use super::piece::{Answer, Piece};
use crate::config::{BrokerConfig, BrokerValues, TopicConfig};
use crate::metadata::Image;
use crate::metrics::ShardMetrics;

/// Facts of the node that don't change while it runs.
#[derive(Debug)]
pub struct Topology {
    /// Configuration.
    pub config: BrokerConfig,
    /// Where clients reach each listener: host and port as advertised, port 0 replaced by the one the listener got.
    pub advertised: Vec<(String, u16)>,
    /// The cluster's id.
    pub cluster_id: String,
    /// Number of shards.
    pub shards: u16,
}

/// One shard's state, used by `Rc` from its tasks. Borrowed only within a step, never across an await.
pub struct ShardState {
    /// Which shard.
    pub id: ShardId,
    /// The node.
    pub node: Arc<Topology>,
    /// The metadata as of the last delta applied here.
    pub image: RefCell<Image>,
    /// Offset of the metadata that this shard serves: applied, its logs opened and led.
    pub served_offset: Cell<i64>,
    /// Told when `served_offset` moves, and when a partition is led before it does.
    pub served_moved: Notify,
    /// Who owns which partition.
    pub placement: RefCell<Placement>,
    /// Partitions on their way from one shard to another.
    pub held: Held,
    /// Who changes what the shard leads: metadata being applied, or a partition that goes or comes.
    pub metadata_turn: Budget,
    /// The partitions this shard owns and leads.
    pub partitions: RefCell<BTreeMap<PartitionKey, Rc<Partition>>>,
    /// The broker's configs as texts, with what was set while it runs, as of the metadata applied here.
    pub values: RefCell<Rc<BrokerValues>>,
    /// Effective topic configs, by topic id.
    pub topic_configs: RefCell<BTreeMap<Uuid, Rc<TopicConfig>>>,
    /// This shard's parts of the log directories.
    pub log_dirs: LogDirs,
    /// The way to the other shards.
    pub mesh: Mesh<Piece, Answer>,
    /// Group coordinators of the partitions of `__consumer_offsets` that this shard owns.
    pub coordinators: Coordinators,
    /// Only on shard 0: what it alone holds.
    pub first: Option<super::first::FirstShard>,
    /// Incremental fetch sessions of the connections of this shard (KIP-227).
    pub fetch_sessions: FetchSessions,
    /// The connections that live here.
    pub network: Connections,
    /// Where its tasks say that the node can't go on.
    pub failures: Rc<Failures>,
    /// What it counts.
    pub metrics: Rc<ShardMetrics>,
    /// Partitions of this shard on their way to another log directory.
    pub moves: Moves,
    /// Tasks of this shard that live as long as it serves.
    pub tasks: TaskSet,
}

impl std::fmt::Debug for ShardState {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ShardState").field("id", &self.id).finish_non_exhaustive()
    }
}

/// Where a request comes from.
#[derive(Debug, Clone)]
pub struct RequestContext {
    /// Version of the request.
    pub api_version: i16,
    /// `client.id`, empty if it didn't say.
    pub client_id: Str,
    /// The peer's address, as Kafka writes it: `/127.0.0.1`.
    pub client_host: Str,
    /// Number of the listener it came by.
    pub listener: usize,
    /// Size of the allocation that the request's bytes are a slice of, in bytes.
    pub allocation_bytes: usize,
    /// What the request is counted in.
    pub memory: FrameMemory,
}

impl ShardState {
    /// The partition, if this shard leads it.
    pub fn partition(&self, key: &PartitionKey) -> Option<Rc<Partition>> {
        self.partitions.borrow().get(key).cloned()
    }

    /// The partition, if this shard leads it; a shard that is behind `metadata_offset` first catches up with it.
    ///
    /// A refusal instead could cost an idempotent producer its first batch: it has sent the second already, which is taken by then, since a
    /// producer that isn't known may start with any sequence. Who waits goes on in the order of the calls.
    pub async fn partition_as_of(&self, key: &PartitionKey, metadata_offset: i64) -> Option<Rc<Partition>> {
        loop {
            let moved = self.served_moved.notified();
            let partition = self.partition(key);
            if partition.is_some() || self.served_offset.get() >= metadata_offset {
                return partition;
            }
            moved.await;
        }
    }

    /// Whether it is what the shard serves under its key.
    pub fn serves(&self, partition: &Rc<Partition>) -> bool {
        self.partitions.borrow().get(&partition.key()).is_some_and(|served| Rc::ptr_eq(served, partition))
    }

    /// Which shard owns it, as of the metadata here. Waits while it goes from one to another. Who routes to it does so without an await since.
    pub async fn owner(&self, key: &PartitionKey) -> Option<ShardId> {
        self.held.over(std::slice::from_ref(key)).await;
        self.placement.borrow().owner(key)
    }

    /// Asks the owner of a partition; the next one if it was moved while it was asked. `None`: nobody owns it.
    pub async fn ask_owner(
        self: &Rc<Self>,
        key: &PartitionKey,
        piece: impl Fn() -> Piece,
        is_refused: impl Fn(&Answer) -> bool,
    ) -> Option<Answer> {
        let mut owner = self.owner(key).await?;
        loop {
            let answer = self.call(owner, piece()).await;
            if !is_refused(&answer) {
                return Some(answer);
            }
            match self.owner(key).await {
                Some(moved) if moved != owner => owner = moved,
                _ => return Some(answer),
            }
        }
    }

    /// The broker's configs as texts, with what was set while it runs. `node.config` is what it was started with.
    pub fn broker_values(&self) -> Rc<BrokerValues> {
        Rc::clone(&self.values.borrow())
    }

    /// What holds for the topic.
    pub fn topic_config(&self, topic_id: Uuid) -> Option<Rc<TopicConfig>> {
        self.topic_configs.borrow().get(&topic_id).cloned()
    }

    /// Waits until the metadata up to `offset` is served here.
    pub async fn await_metadata(&self, offset: i64) {
        while self.served_offset.get() < offset {
            self.served_moved.notified().await;
        }
    }

    /// The metadata up to `offset` is served here.
    pub fn set_served(&self, offset: i64) {
        self.served_offset.set(offset);
        self.served_moved.notify_waiters();
    }

    /// Hands a piece to a shard, this one included, and waits for its answer.
    pub async fn call(self: &Rc<Self>, shard: ShardId, piece: Piece) -> Answer {
        if shard == self.id {
            self.mesh.count_local();
            return super::service::handle(Rc::clone(self), piece).await;
        }
        // Boxed: calls to the own shard would be as large.
        Box::pin(self.mesh.call(shard, piece)).await.unwrap_or(Answer::Gone)
    }
}
