//! The way from the endpoint to the shards.

use std::time::Duration;

use futures_util::future::join_all;

use super::limits::{ASKS_MAX, MOVE_WITHIN};
use super::phase::{Phase, PhaseReceiver, PhaseSender, phases};
use crate::metrics::ShardSnapshot;
use crate::server::core_move::{MoveWish, Unmoved};
use crate::server::placed_partitions::PlacedPartition;

/// What the endpoint asks a shard.
#[derive(Debug)]
pub enum Ask {
    /// Whether it runs.
    Ping(flume::Sender<()>),
    /// Its partitions; none until it serves.
    Placement(flume::Sender<Option<Vec<PlacedPartition>>>),
    /// To shard 0: move a partition to another core; none until it serves.
    Move(MoveWish, flume::Sender<Option<Result<bool, Unmoved>>>),
    /// Its numbers; none until it serves.
    Snapshot(flume::Sender<Option<Box<ShardSnapshot>>>),
}

/// The node's ends, made before its shards.
#[derive(Debug)]
pub struct AdminEnds {
    /// One a shard, in order. Without an endpoint nothing ever comes.
    pub asks: Vec<flume::Receiver<Ask>>,
    /// Shard 0's.
    pub phase: PhaseSender,
}

/// The endpoint's ends.
#[derive(Debug)]
pub struct Shards {
    asks: Vec<flume::Sender<Ask>>,
    phase: PhaseReceiver,
    within: Duration,
}

/// Both ends, for `shards` shards, whose answers are waited for at most `within`.
pub fn wires(shards: u16, within: Duration) -> (AdminEnds, Shards) {
    let (asks, answering) = (0..shards).map(|_| flume::bounded(ASKS_MAX)).unzip();
    let (sender, receiver) = phases();
    (AdminEnds { asks: answering, phase: sender }, Shards { asks, phase: receiver, within })
}

impl Shards {
    /// Where the node is in its life.
    pub(super) fn phase(&self) -> Phase {
        self.phase.now()
    }

    /// The shards that didn't answer in time.
    pub(super) async fn silent(&self) -> Vec<usize> {
        let answers = self.ask_all(Ask::Ping).await;
        answers.iter().enumerate().filter(|(_, answer)| answer.is_none()).map(|(shard, _)| shard).collect()
    }

    /// The numbers of each shard; none where it didn't answer in time, or doesn't serve yet.
    pub(super) async fn snapshots(&self) -> Vec<Option<Box<ShardSnapshot>>> {
        self.ask_all(Ask::Snapshot).await.into_iter().map(Option::flatten).collect()
    }

    /// The partitions of each shard, likewise.
    pub(super) async fn placements(&self) -> Vec<Option<Vec<PlacedPartition>>> {
        self.ask_all(Ask::Placement).await.into_iter().map(Option::flatten).collect()
    }

    /// Has a partition moved. `None`: no answer within [`MOVE_WITHIN`], or the node doesn't serve.
    pub(super) async fn move_to_core(&self, wish: MoveWish) -> Option<Result<bool, Unmoved>> {
        let first = self.asks.first()?;
        ask_one(first, MOVE_WITHIN, |sender| Ask::Move(wish, sender)).await.flatten()
    }

    async fn ask_all<T>(&self, ask: impl Fn(flume::Sender<T>) -> Ask) -> Vec<Option<T>> {
        let calls = self.asks.iter().map(|asks| ask_one(asks, self.within, &ask));
        join_all(calls.collect::<Vec<_>>()).await
    }
}

async fn ask_one<T>(
    shard: &flume::Sender<Ask>,
    within: Duration,
    ask: impl FnOnce(flume::Sender<T>) -> Ask,
) -> Option<T> {
    let (sender, answer) = flume::bounded(1);
    let ask = ask(sender);
    let call = async move {
        shard.send_async(ask).await.ok()?;
        answer.recv_async().await.ok()
    };
    tokio::time::timeout(within, call).await.ok().flatten()
}
