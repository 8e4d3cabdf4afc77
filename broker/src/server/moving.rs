//! Moving a partition to another log directory while it serves (AlterReplicaLogDirs, KIP-113).
//!
//! ```text
//!   copied beside ── caught up ── [batches wait] the last records ── closed, synced
//!     ── the metadata say so ── in its place ── served from there [batches go on] ── the old one is deleted
//! ```
//!
//! What the metadata say decides (KIP-858), so a crash at any moment leaves one log that counts, and it is whole: before, the old one, and a start
//! removes the copy; afterwards the new one, and a start sets the old one aside. One that was copied but isn't in its place yet counts for nothing:
//! the old one has all that it has. A move doesn't survive a restart: who asked for it asks again.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use protocol::error::ErrorCode;
use protocol::records::RecordBatch;
use protocol::types::Uuid;
use rt::sync::Budget;
use rt::{Instant, ShardId};
use shards::{Partition, PartitionKey};
use storage::{AppendError, Log, LogConfig, LogDir, Offset, ReadError, StorageError, WaitError};

use super::leading::log_config;
use super::piece::{Answer, Piece};
use super::register::assignment;
use super::state::ShardState;
use super::whereabouts::DirIndex;
use crate::metadata::{ControllerReply, ControllerRequest};

/// What is read and written at once, in bytes.
const CHUNK_BYTES: usize = 1 << 20;
/// Batches wait while no more than this is left to copy, in bytes.
const LAST_BYTES: usize = 1 << 20;
/// What a log on its way keeps in memory for readers, in bytes: it has none.
const TAIL_BYTES: usize = 1 << 20;
/// Longest wait at once for the rate to hold: who calls a move off isn't kept waiting longer.
const WAIT_MAX: Duration = Duration::from_millis(100);
/// After what time is tried again what the controller or a full disk refused: at first, and at most.
const RETRY_PAUSE_MIN: Duration = Duration::from_secs(1);
const RETRY_PAUSE_MAX: Duration = Duration::from_secs(60);
/// The name of the config that sets the rate.
const RATE: &str = "replica.alter.log.dirs.io.max.bytes.per.second";

/// The moves of a shard. One copies at a time, the others wait.
#[derive(Debug)]
pub struct Moves {
    under_way: RefCell<BTreeMap<PartitionKey, Rc<Move>>>,
    turn: Budget,
}

/// A move under way, or waiting for its turn.
#[derive(Debug)]
pub struct Move {
    key: PartitionKey,
    partition: Rc<Partition>,
    to: DirIndex,
    /// The log on its way.
    future: Log,
    called_off: Cell<bool>,
}

/// Why a move ended without the partition being moved. It serves from where it was.
#[derive(Debug, thiserror::Error)]
enum Unmoved {
    #[error("it was called off, or the topic was deleted")]
    CalledOff,
    #[error("a log directory is offline")]
    Offline,
    #[error(transparent)]
    Storage(#[from] StorageError),
    #[error("the log can't be read: {0}")]
    Read(#[from] ReadError),
    #[error("the copy can't be appended to: {0}")]
    Append(#[from] AppendError),
    #[error("the log can't be flushed: {0}")]
    Flush(#[from] WaitError),
    #[error("a batch of the log can't be read")]
    Batch,
    #[error("the copy ends at {copied} and not at {end}")]
    Short { copied: Offset, end: Offset },
    #[error("the copy can't be used, and was set aside: {0}")]
    Damaged(String),
    #[error("the controller refused: {0}")]
    Controller(ErrorCode),
}

impl Unmoved {
    /// Whether the controller says that there is no such partition any more.
    fn is_of_deleted(&self) -> bool {
        matches!(
            self,
            Self::Controller(
                ErrorCode::UNKNOWN_TOPIC_ID
                    | ErrorCode::UNKNOWN_TOPIC_OR_PARTITION
                    | ErrorCode::NOT_LEADER_OR_FOLLOWER
            )
        )
    }
}

impl Default for Moves {
    fn default() -> Self {
        Self { under_way: RefCell::default(), turn: Budget::new(1) }
    }
}

impl Moves {
    /// All of them.
    pub fn all(&self) -> Vec<Rc<Move>> {
        self.under_way.borrow().values().cloned().collect()
    }

    /// Whether the partition is on its way.
    pub(super) fn is_moving(&self, key: &PartitionKey) -> bool {
        self.under_way.borrow().contains_key(key)
    }

    /// Ends the partition's, if there is one.
    fn call_off(&self, key: &PartitionKey) {
        if let Some(old) = self.under_way.borrow_mut().remove(key) {
            old.called_off.set(true);
        }
    }
}

impl Move {
    /// Where it goes.
    pub fn to(&self) -> DirIndex {
        self.to
    }

    /// The log on its way.
    pub fn future(&self) -> &Log {
        &self.future
    }

    /// How many offsets are left to copy.
    pub fn lag(&self) -> u64 {
        let (end, copied) = (self.partition.log().end_offset(), self.future.end_offset());
        if copied < end { end.since(copied) } else { 0 }
    }

    /// # Errors
    /// It isn't to go on, or the copy can't.
    fn check(&self, shard: &ShardState) -> Result<(), Unmoved> {
        self.check_wanted(shard)?;
        if self.future.is_offline() {
            return Err(Unmoved::Offline);
        }
        // What is left of that disk is for its own logs.
        if self.future.refuses_writes() { Err(StorageError::NoSpace.into()) } else { Ok(()) }
    }

    /// # Errors
    /// It isn't to go on.
    fn check_wanted(&self, shard: &ShardState) -> Result<(), Unmoved> {
        if self.called_off.get() || !shard.serves(&self.partition) {
            return Err(Unmoved::CalledOff);
        }
        if self.partition.is_offline() { Err(Unmoved::Offline) } else { Ok(()) }
    }
}

/// Begins to move a partition that this shard leads. The answer comes when the copy is begun; where the partition is there already, a move to
/// elsewhere is called off.
pub(super) async fn begin(shard: &Rc<ShardState>, key: PartitionKey, to: DirIndex) -> ErrorCode {
    let Some(partition) = shard.partition(&key) else { return ErrorCode::REPLICA_NOT_AVAILABLE };
    let Some(dir) = shard.log_dirs.get(to).and_then(|dir| dir.online()) else {
        return ErrorCode::KAFKA_STORAGE_ERROR;
    };
    if partition.is_offline() {
        return ErrorCode::KAFKA_STORAGE_ERROR;
    }
    if dir.log(partition.log().partition()).is_some_and(|log| log.is(&partition.log())) {
        shard.moves.call_off(&key);
        return ErrorCode::NONE;
    }
    let is_going_there = |moved: &Rc<Move>| moved.to == to && Rc::ptr_eq(&moved.partition, &partition);
    if shard.moves.under_way.borrow().get(&key).is_some_and(is_going_there) {
        return ErrorCode::NONE;
    }
    let name = partition.log().partition().clone();
    // Synced once, at its end.
    let config = LogConfig { sync: false, tail_bytes_max: TAIL_BYTES, ..(*partition.log().config()).clone() };
    let future = match dir.create_future(name.clone(), key.topic_id, config).await {
        Ok(future) => future,
        Err(error) => {
            tracing::warn!(partition = %name, %error, "a move to another log directory can't begin");
            return ErrorCode::KAFKA_STORAGE_ERROR;
        }
    };
    shard.moves.call_off(&key);
    let begun = Rc::new(Move { key, partition, to, future, called_off: Cell::new(false) });
    shard.moves.under_way.borrow_mut().insert(key, Rc::clone(&begun));
    shard.tasks.spawn(run(Rc::clone(shard), begun));
    ErrorCode::NONE
}

async fn run(shard: Rc<ShardState>, job: Rc<Move>) {
    let Some(dir) = shard.log_dirs.get(job.to).and_then(|dir| dir.opened()) else { return };
    let name = job.future.partition().clone();
    let begun = rt::now();
    let moved = {
        let _turn = shard.moves.turn.take(1).await;
        carry_out(&shard, &job, dir).await
    };
    let is_this = |other: &Rc<Move>| Rc::ptr_eq(other, &job);
    if shard.moves.under_way.borrow().get(&job.key).is_some_and(is_this) {
        shard.moves.under_way.borrow_mut().remove(&job.key);
    }
    let to = shard.log_dirs.get(job.to).map(|dir| dir.path().display().to_string()).unwrap_or_default();
    match moved {
        Ok(()) => {
            tracing::info!(partition = %name, to, took = ?(rt::now() - begun), "moved to another log directory")
        }
        Err(error) => {
            tracing::warn!(partition = %name, to, %error, "not moved to another log directory");
            if let Err(error) = dir.drop_future(&job.future).await {
                tracing::debug!(partition = %name, %error, "the next start removes what a move left");
            }
        }
    }
}

async fn carry_out(shard: &Rc<ShardState>, job: &Move, dir: &LogDir) -> Result<(), Unmoved> {
    let mut copy = Copying { job, shard, at: None, pace: Pace::new() };
    copy.catch_up().await?;
    // From here on producers wait.
    let paused = job.partition.pause().await;
    job.check(shard)?;
    let old = job.partition.log();
    // Coordinators don't take turns.
    let sealed = Sealed(Some(&old));
    old.seal();
    // Who waits for it is answered by the old one.
    old.flush().await?;
    copy.finish().await?;
    job.future.close().await?;
    job.check_wanted(shard)?;
    let here = dir_id_of(shard, &old);
    let new = match switch(shard, job, dir, &old).await {
        Ok(new) => new,
        Err(error) => {
            take_back(shard, job, dir, here).await;
            return Err(error);
        }
    };
    // In one piece since the last look: no batch, no deletion, no change of the topic's config comes in between.
    if let Some(config) = shard.topic_config(job.key.topic_id) {
        new.set_config(log_config(shard, &config));
    }
    job.partition.move_to(new);
    shard.log_dirs.forget_place(&job.key);
    sealed.stay();
    drop(paused);
    if !is_deleted(shard, &old).await {
        shard.tasks.spawn(delete_later(Rc::clone(shard), old));
    }
    Ok(())
}

/// Has the metadata name the new place, and opens the copy there, which starts where the old log does by now.
async fn switch(shard: &Rc<ShardState>, job: &Move, dir: &LogDir, old: &Log) -> Result<Log, Unmoved> {
    tell_place(shard, job.key, dir.directory_id()).await?;
    let config = match shard.topic_config(job.key.topic_id) {
        Some(config) => log_config(shard, &config),
        None => return Err(Unmoved::CalledOff),
    };
    let new = dir.promote(&job.future, config).await?;
    let (copied, end) = (new.end_offset(), old.end_offset());
    if new.is_offline() || copied != end {
        // A disk may not give back what it took. The old log is the only whole one.
        let reason = format!("{:?}, up to {copied} of {end}", new.status());
        dir.set_aside(new.partition()).await?;
        return Err(Unmoved::Damaged(reason));
    }
    while new.start_offset() < old.start_offset() {
        new.advance_start_offset(old.start_offset()).await?;
    }
    if shard.serves(&job.partition) { Ok(new) } else { Err(Unmoved::CalledOff) }
}

/// The metadata may name the new place. Until they name the old one again, the old log stays sealed: what was appended to it would be lost if a start
/// took them at their word. A copy that is in its place goes first, so that such a start finds the old one only.
async fn take_back(shard: &Rc<ShardState>, job: &Move, dir: &LogDir, here: Uuid) {
    let partition = job.future.partition();
    if let Err(error) = dir.withdraw(&job.future).await {
        tracing::warn!(%partition, %error, "a copy that isn't used is left in its place: the next start sets it aside");
    }
    let mut pause = RETRY_PAUSE_MIN;
    while let Err(error) = tell_place(shard, job.key, here).await {
        if error.is_of_deleted() {
            return;
        }
        tracing::warn!(%partition, %error, "a partition that wasn't moved waits for the metadata to say so");
        rt::sleep(pause).await;
        pause = (pause * 2).min(RETRY_PAUSE_MAX);
    }
}

/// Deletes what was moved; false if it is worth another try.
async fn is_deleted(shard: &ShardState, old: &Log) -> bool {
    let partition = old.partition();
    let holder = shard.log_dirs.online().find(|dir| dir.log(partition).is_some_and(|log| log.is(old)));
    let Some(holder) = holder else { return true };
    match holder.delete_log(partition).await {
        Ok(()) => true,
        Err(error @ StorageError::NoSpace) => {
            tracing::warn!(%partition, %error, "what was moved to another log directory can't be deleted yet");
            false
        }
        Err(error) => {
            tracing::warn!(%partition, %error, "what was moved to another log directory couldn't be deleted: the next start sets it aside");
            true
        }
    }
}

/// Seldomer and seldomer, until it is done or the shard ends; then the next start sets it aside.
async fn delete_later(shard: Rc<ShardState>, old: Log) {
    let mut pause = RETRY_PAUSE_MIN;
    loop {
        rt::sleep(pause).await;
        pause = (pause * 2).min(RETRY_PAUSE_MAX);
        if is_deleted(&shard, &old).await {
            return;
        }
    }
}

fn dir_id_of(shard: &ShardState, log: &Log) -> Uuid {
    let mut dirs = shard.log_dirs.opened();
    let holder = dirs.find(|dir| dir.log(log.partition()).is_some_and(|found| found.is(log)));
    holder.map_or(Uuid::ZERO, LogDir::directory_id)
}

/// Has the metadata say so.
async fn tell_place(shard: &Rc<ShardState>, key: PartitionKey, directory: Uuid) -> Result<(), Unmoved> {
    let node_id = shard.node.config.node_id;
    let epoch = shard.image.borrow().brokers.get(&node_id).map_or(-1, |broker| broker.epoch);
    let request = assignment(node_id, epoch, &[(key, directory)]);
    let request = ControllerRequest::AssignReplicasToDirs(request);
    let code = match shard.call(ShardId(0), Piece::Controller(request)).await {
        Answer::Controller(reply) => match *reply {
            ControllerReply::AssignReplicasToDirs(reply) => {
                let topics = reply.directories.iter().flat_map(|directory| &directory.topics);
                let mut codes = topics.flat_map(|topic| &topic.partitions).map(|one| one.error_code);
                ErrorCode::from_code(codes.find(|code| *code != 0).unwrap_or(reply.error_code))
            }
            other => other.failure(),
        },
        _ => ErrorCode::NOT_CONTROLLER,
    };
    if code == ErrorCode::NONE { Ok(()) } else { Err(Unmoved::Controller(code)) }
}

/// A log that takes no appends until the move is over, one way or the other.
struct Sealed<'a>(Option<&'a Log>);

impl Sealed<'_> {
    /// It never will again.
    fn stay(mut self) {
        self.0 = None;
    }
}

impl Drop for Sealed<'_> {
    fn drop(&mut self) {
        if let Some(log) = self.0 {
            log.unseal();
        }
    }
}

/// The copying.
struct Copying<'a> {
    shard: &'a Rc<ShardState>,
    job: &'a Move,
    /// Copied up to here; `None` before the first record.
    at: Option<Offset>,
    pace: Pace,
}

impl Copying<'_> {
    /// Copies until little is left.
    async fn catch_up(&mut self) -> Result<(), Unmoved> {
        loop {
            self.job.check(self.shard)?;
            let log = self.job.partition.log();
            let at = self.from(&log);
            let left = log.readable_bytes(at, log.end_offset(), LAST_BYTES + 1);
            if left <= LAST_BYTES {
                return Ok(());
            }
            let copied = self.step().await?;
            self.pace.wait(self.shard, self.job, copied).await?;
            rt::yield_point().await;
        }
    }

    /// Copies the rest of a log to which nothing is appended any more.
    async fn finish(&mut self) -> Result<(), Unmoved> {
        let (log, future) = (self.job.partition.log(), &self.job.future);
        while self.from(&log) < log.end_offset() {
            self.job.check(self.shard)?;
            if self.step().await? == 0 {
                break;
            }
        }
        let end = log.end_offset();
        if self.at.is_none() && end > future.end_offset() {
            // All of it was deleted.
            future.truncate_fully_and_start_at(end).await?;
        }
        if future.end_offset() != end {
            return Err(Unmoved::Short { copied: future.end_offset(), end });
        }
        if future.start_offset() < log.start_offset() {
            future.advance_start_offset(log.start_offset()).await?;
        }
        future.flush().await?;
        Ok(())
    }

    /// Where to go on: what retention took meanwhile isn't missed.
    fn from(&self, log: &Log) -> Offset {
        self.at.unwrap_or_default().max(log.start_offset())
    }

    /// Copies some. Gives how much, in bytes.
    async fn step(&mut self) -> Result<usize, Unmoved> {
        let log = self.job.partition.log();
        let from = self.from(&log);
        let slice = match log.read(from, log.end_offset(), CHUNK_BYTES, true).await {
            // It starts behind that by now.
            Err(ReadError::OffsetOutOfRange { start, .. }) if start > from => return Ok(1),
            read => read?,
        };
        let mut bytes = joined(slice.bufs);
        while !bytes.is_empty() {
            let batch = RecordBatch::split_from(&mut bytes).map_err(|_| Unmoved::Batch)?;
            self.append(&batch, slice.bytes).await?;
        }
        if slice.bytes > 0 {
            self.at = Some(slice.next_offset);
        }
        Ok(slice.bytes)
    }

    async fn append(&self, batch: &RecordBatch, frame_bytes: usize) -> Result<(), Unmoved> {
        let future = &self.job.future;
        let base = Offset(batch.header().base_offset);
        if self.at.is_none() && future.end_offset() == Offset::ZERO && base > Offset::ZERO {
            // It begins with the batch that holds the log's start.
            future.truncate_fully_and_start_at(base).await?;
        }
        loop {
            let reservation = future.reserve_batch(batch).await?.of_frame(frame_bytes);
            match future.append_as_follower(reservation, batch.clone()) {
                Err(AppendError::SegmentOffsetsFull) => future.roll().await?,
                appended => return Ok(appended.map(drop)?),
            }
        }
    }
}

fn joined(mut bufs: Vec<Bytes>) -> Bytes {
    match bufs.len() {
        0 => Bytes::new(),
        1 => bufs.swap_remove(0),
        _ => {
            let mut joined = BytesMut::with_capacity(bufs.iter().map(Bytes::len).sum());
            bufs.iter().for_each(|buf| joined.extend_from_slice(buf));
            joined.freeze()
        }
    }
}

/// Keeps the copying to the rate that is set: this shard's part of the node's.
struct Pace {
    /// Copied beyond the rate, in bytes.
    owed: f64,
    at: Instant,
}

impl Pace {
    fn new() -> Pace {
        Pace { owed: 0.0, at: rt::now() }
    }

    /// Waits as long as it takes to have copied so many bytes more.
    async fn wait(&mut self, shard: &ShardState, job: &Move, bytes: usize) -> Result<(), Unmoved> {
        self.owed += bytes as f64;
        loop {
            // It may be changed meanwhile.
            let rate = shard.broker_values().number(RATE) as f64 / f64::from(shard.node.shards);
            let rate = rate.max(1.0);
            let now = rt::now();
            self.owed = (self.owed - rate * (now - self.at).as_secs_f64()).max(0.0);
            self.at = now;
            if self.owed <= 0.0 {
                return Ok(());
            }
            rt::sleep(Duration::from_secs_f64((self.owed / rate).min(WAIT_MAX.as_secs_f64()))).await;
            job.check(shard)?;
        }
    }
}
