//! A partition goes from one core to another while it serves; nothing is copied.
//!
//! ```text
//!   shard 0                all shards                the one that has it                 the one that gets it
//!   Hold ───────────────>  route nothing to it, wait
//!                          Fence ─────────────────>  what was routed before has begun
//!   Release ────────────────────────────────────>    appends ended, log closed: all synced,
//!                                                    the journal's part of it void
//!   Adopt ──────────────────────────────────────────────────────────────────────────────> log opened, led
//!   (in the order of the metadata: it is there)
//!                          route again, to there
//! ```
//!
//! What clients ask meanwhile waits with their connections, in its order. A crash at any moment leaves a whole log: files don't know which shard they
//! are of, and a start replays all shards' journals, each up to the frame with which it gave the log away. The place is written down last.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;

use futures_util::future::join_all;
use rt::ShardId;
use rt::sync::Notify;
use shards::PartitionKey;
use storage::TopicPartition;

use super::leading::{self, Wanted};
use super::piece::{Answer, Piece};
use super::state::ShardState;
use super::whereabouts::DirIndex;
use super::{deleting, metadata_changes, placement_file};
use crate::metadata::image::OFFSETS_TOPIC;

/// A step of a move, for the shard that takes it.
#[derive(Debug)]
pub enum CorePiece {
    /// Route nothing to the partition until the move is over. Answered when all that was routed before has begun at its owner.
    Hold {
        /// Which.
        key: PartitionKey,
        /// Who has it.
        owner: ShardId,
    },
    /// Nothing: it begins behind all that the shard sent before.
    Fence,
    /// Give the partition away.
    Release(PartitionKey),
    /// Lead the partition, whose log is free.
    Adopt(Handover),
    /// Answered once the partition is routed to again.
    AwaitSettled(PartitionKey),
}

/// A partition between two shards.
#[derive(Debug)]
pub struct Handover {
    key: PartitionKey,
    name: TopicPartition,
    /// Its log directory.
    dir: DirIndex,
}

/// Which partition is to go where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MoveWish {
    /// Its topic.
    pub topic: String,
    /// Its number.
    pub partition: i32,
    /// The shard.
    pub core: u16,
}

/// Why a partition wasn't moved. It serves from where it was, unless the text says otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Unmoved {
    /// No such partition.
    #[error("there is no such topic or partition")]
    UnknownPartition,
    /// No such core.
    #[error("there is no such core: they are counted from 0, in the order of --cores")]
    UnknownCore,
    /// One at a time.
    #[error("another partition is on its way: try again when it is there")]
    Busy,
    /// It is where a group coordinator lives.
    #[error(
        "partitions of __consumer_offsets stay where they are: the coordinators of their groups would have to load anew"
    )]
    Coordinator,
    /// Nothing to move.
    #[error("the partition is offline")]
    Offline,
    /// It moves already, elsewhere.
    #[error("the partition is on its way to another log directory: try again when it is there")]
    Copying,
    /// The disk, or the end of the node.
    #[error("its log couldn't be closed: see the broker's log")]
    Unclosed,
}

/// The partitions to which a shard routes nothing for now.
#[derive(Debug, Default)]
pub struct Held {
    keys: RefCell<BTreeSet<PartitionKey>>,
    freed: Notify,
}

impl Held {
    /// Whether the partition is on its way.
    pub fn contains(&self, key: &PartitionKey) -> bool {
        self.keys.borrow().contains(key)
    }

    /// Waits until none of them is on its way.
    pub async fn over(&self, keys: &[PartitionKey]) {
        loop {
            let freed = self.freed.notified();
            if self.keys.borrow().is_empty() || !keys.iter().any(|key| self.contains(key)) {
                return;
            }
            freed.await;
        }
    }

    fn free(&self, key: &PartitionKey) {
        self.keys.borrow_mut().remove(key);
        self.freed.notify_waiters();
    }
}

/// Takes a step.
pub(super) async fn handle(shard: &Rc<ShardState>, piece: CorePiece) -> Answer {
    match piece {
        CorePiece::Hold { key, owner } => {
            shard.held.keys.borrow_mut().insert(key);
            if owner != shard.id {
                shard.call(owner, Piece::Core(CorePiece::Fence)).await;
            }
            Answer::Done
        }
        CorePiece::Fence => Answer::Done,
        CorePiece::Release(key) => Answer::Released(release(shard, key).await.map(Box::new)),
        CorePiece::Adopt(handover) => {
            adopt(shard, handover).await;
            Answer::Done
        }
        CorePiece::AwaitSettled(key) => {
            shard.held.over(&[key]).await;
            Answer::Done
        }
    }
}

/// Moves a partition by its name, on shard 0. True if the place is also written down for the next start.
///
/// # Errors
/// It stays where it is.
pub(crate) async fn carry_out(shard: &Rc<ShardState>, wish: MoveWish) -> Result<bool, Unmoved> {
    let topic_id = shard.image.borrow().topic(&wish.topic).map(|topic| topic.id);
    let topic_id = topic_id.ok_or(Unmoved::UnknownPartition)?;
    run(shard, PartitionKey { topic_id, partition: wish.partition }, ShardId(wish.core)).await
}

/// Moves a partition, on shard 0. True if the place is also written down for the next start.
///
/// # Errors
/// It stays where it is.
pub(super) async fn run(shard: &Rc<ShardState>, key: PartitionKey, to: ShardId) -> Result<bool, Unmoved> {
    let Some(first) = &shard.first else { return Err(Unmoved::Unclosed) };
    let _turn = first.core_moves.try_take(1).ok_or(Unmoved::Busy)?;
    if to.0 >= shard.node.shards {
        return Err(Unmoved::UnknownCore);
    }
    let from = shard.placement.borrow().owner(&key).ok_or(Unmoved::UnknownPartition)?;
    let begun = rt::now();
    let result = match from == to {
        // It stays, from now on on purpose.
        true => Ok(()),
        false => hand_over(shard, key, from, to).await,
    };
    first.controller.settle(key, result.is_ok().then_some(to)).await;
    tell_all(shard, || CorePiece::AwaitSettled(key)).await;
    match result {
        Ok(()) => tracing::info!(?key, %from, %to, took = ?(rt::now() - begun), "moved to another core"),
        Err(error) => tracing::warn!(?key, %from, %to, %error, "not moved to another core"),
    }
    result?;
    Ok(placement_file::save(shard).await)
}

async fn hand_over(
    shard: &Rc<ShardState>,
    key: PartitionKey,
    from: ShardId,
    to: ShardId,
) -> Result<(), Unmoved> {
    tell_all(shard, || CorePiece::Hold { key, owner: from }).await;
    let handover = match shard.call(from, Piece::Core(CorePiece::Release(key))).await {
        Answer::Released(released) => released?,
        _ => return Err(Unmoved::Unclosed),
    };
    shard.call(to, Piece::Core(CorePiece::Adopt(*handover))).await;
    Ok(())
}

async fn tell_all(shard: &Rc<ShardState>, piece: impl Fn() -> CorePiece) {
    let shards = (0..shard.node.shards).map(ShardId);
    join_all(shards.map(|peer| shard.call(peer, Piece::Core(piece())))).await;
}

async fn release(shard: &Rc<ShardState>, key: PartitionKey) -> Result<Handover, Unmoved> {
    // No deletion of the topic comes in between.
    let _turn = shard.metadata_turn.take(1).await;
    let partition = shard.partition(&key).ok_or(Unmoved::UnknownPartition)?;
    if partition.is_offline() {
        return Err(Unmoved::Offline);
    }
    if shard.moves.is_moving(&key) {
        return Err(Unmoved::Copying);
    }
    // Behind all batches that came.
    let _paused = partition.pause().await;
    let log = partition.log();
    let name = log.partition().clone();
    if name.topic == OFFSETS_TOPIC {
        return Err(Unmoved::Coordinator);
    }
    let mut dirs = shard.log_dirs.all().filter_map(|(index, dir)| Some((index, dir.online()?)));
    let (dir, holder) =
        dirs.find(|(_, dir)| dir.log(&name).is_some_and(|found| found.is(&log))).ok_or(Unmoved::Offline)?;
    match holder.release(&name).await {
        Ok(()) => {
            shard.partitions.borrow_mut().remove(&key);
            Ok(Handover { key, name, dir })
        }
        Err(error) => {
            tracing::error!(partition = %name, %error, "a log couldn't be closed for another core");
            let wanted = wanted(shard, &key);
            if let Some(wanted) = wanted {
                leading::lead(shard, wanted, false).await;
            }
            Err(Unmoved::Unclosed)
        }
    }
}

async fn adopt(shard: &Rc<ShardState>, handover: Handover) {
    let Handover { key, name, dir } = handover;
    let _turn = shard.metadata_turn.take(1).await;
    let Some(wanted) = wanted(shard, &key) else {
        // The topic was deleted, and nobody had the log then.
        return deleting::delete(shard, name, key.topic_id).await;
    };
    shard.log_dirs.take_in(key, &name, dir);
    leading::lead(shard, wanted, false).await;
}

/// As the shard's metadata say; `None` if the topic is gone.
fn wanted(shard: &ShardState, key: &PartitionKey) -> Option<Wanted> {
    let image = shard.image.borrow();
    let topic = image.topic_by_id(key.topic_id)?;
    let config = shard.topic_config(key.topic_id)?;
    Wanted::of(shard, topic, key.partition, config)
}

/// Routes to the partition again, at its new place if there is one; at this moment in the order of the metadata.
pub(super) async fn settle(shard: &Rc<ShardState>, key: PartitionKey, owner: Option<ShardId>) {
    if let Some(owner) = owner.filter(|_| shard.placement.borrow().owner(&key).is_some()) {
        shard.placement.borrow_mut().put(key, owner);
    }
    shard.held.free(&key);
    // What the metadata have said since of it was left out here.
    metadata_changes::catch_up(shard, key.topic_id).await;
}
