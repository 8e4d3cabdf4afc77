//! [`Log`]: the handle to one partition's log.

use std::rc::Rc;

use protocol::types::Uuid;
use rt::sync::Notify;

use super::inner::{LogInner, LogStatus};
use super::watermarks::Watermarks;
use crate::{LeaderEpoch, LogConfig, Offset, StorageError, TopicPartition, WaitError};

/// One partition's log, on the shard that owns the partition. Cheap to clone; all clones are the same log.
///
/// ```text
///  start              synced        written         appended = end
///    │                   │             │               │
///    ▼                   ▼             ▼               ▼
///  ┌────────┬────────┬───┴─────────────┴───┬───────────┐
///  │ closed │ closed │ active segment      │ in memory │   written: in the file, or in the shard's journal
///  └────────┴────────┴─────────────────────┴───────────┘
///                            ▲            ▲
///                            │            └ placed: in the segment file. Device writes are whole 4096-byte blocks, and the
///                            │              block that holds this position is written again, with the same prefix.
///                            └ tail: from here on batches are held in memory; readers below take the file
/// ```
///
/// Invariants, each kept by one place:
/// - `start <= end`, `synced <= written <= appended = end`; offsets of batches ascend ([`super::core`]).
/// - Leader epochs never fall along the log ([`super::core`]).
/// - Appends are admitted only into space that is allocated already: a full disk is met by `reserve`, not by
///   writing ([`super::reserve`]).
/// - Every segment but the last is synced and has its exact length before the next one's file exists
///   ([`super::roll`]), so that recovery has one segment to scan.
/// - What was cut off is gone from the medium before the next append is admitted ([`super::truncate`]).
/// - Nothing read from a file overlaps a block that may be written ([`super::core::LogCore::part_of`]).
/// - Producer state, epochs and indexes are functions of the batches: replaying gives the same
///   ([`super::recover`]).
///
/// Futures of a log, but for `close`, may be dropped at any await: what changes files runs in tasks of the
/// directory and ends by itself.
#[derive(Debug, Clone)]
pub struct Log(pub(crate) Rc<LogInner>);

impl Log {
    /// Which partition it is.
    pub fn partition(&self) -> &TopicPartition {
        &self.0.partition
    }

    /// The topic's id, zero if its directory doesn't tell.
    pub fn topic_id(&self) -> Uuid {
        self.0.topic_id
    }

    /// The first offset that is served.
    pub fn start_offset(&self) -> Offset {
        self.0.core.borrow().start
    }

    /// The next offset to be given: the end of what is appended.
    pub fn end_offset(&self) -> Offset {
        self.0.marks.appended()
    }

    /// The offset after the last record in the file or the journal.
    pub fn written_offset(&self) -> Offset {
        self.0.marks.written()
    }

    /// The offset after the last record on the medium.
    pub fn synced_offset(&self) -> Offset {
        self.0.marks.synced()
    }

    /// The offset that a replica reports as its end by the log's durability contract: `synced` in sync mode,
    /// else `written`.
    pub fn durable_offset(&self) -> Offset {
        if self.0.config().sync { self.synced_offset() } else { self.written_offset() }
    }

    /// Told when that moves, or the log goes offline.
    pub fn durable_moved(&self) -> &Notify {
        if self.0.config().sync { self.0.marks.synced_moved() } else { self.0.marks.written_moved() }
    }

    /// The watermarks, with their notifications.
    pub fn watermarks(&self) -> &Watermarks {
        &self.0.marks
    }

    /// Waits until the record before `offset` is in the file or the journal.
    ///
    /// # Errors
    /// The log went offline or was cut: what became of the record is unknown.
    pub async fn wait_written(&self, offset: Offset) -> Result<(), WaitError> {
        self.0.marks.wait_written(offset).await
    }

    /// Waits until the record before `offset` is on the medium. A log that isn't in sync mode gets there at
    /// rolls, by `flush.messages`, `flush.ms`, or [`Self::flush`].
    ///
    /// # Errors
    /// As for [`Self::wait_written`].
    pub async fn wait_synced(&self, offset: Offset) -> Result<(), WaitError> {
        self.0.marks.wait_synced(offset).await
    }

    /// First offset of the oldest open transaction; the last stable offset stands there, or at the high
    /// watermark without one.
    pub fn first_open_txn(&self) -> Option<Offset> {
        self.0.core.borrow().producers.first_open_txn()
    }

    /// Whether appends and reads are refused: the directory failed, or see [`Self::status`].
    pub fn is_offline(&self) -> bool {
        self.0.is_offline()
    }

    /// Why the log is offline, if it is by itself.
    pub fn status(&self) -> LogStatus {
        self.0.status.borrow().clone()
    }

    /// Its settings.
    pub fn config(&self) -> Rc<LogConfig> {
        self.0.config()
    }

    /// Changes the settings; the next append and the next roll go by them.
    pub fn set_config(&self, config: LogConfig) {
        if self.0.config().sync {
            // Who waits for a sync that was promised gets it, also when later batches go without.
            self.0.flush_wanted.set(self.0.flush_wanted.get().max(self.end_offset()));
        }
        *self.0.config.borrow_mut() = Rc::new(config);
        // Sync mode may have been switched on with something unsynced.
        if self.synced_offset() < self.end_offset() && !self.is_offline() {
            self.0.dir.mark_dirty(&self.0);
        }
    }

    /// Whether the disk is too full to take what producers send. What the node writes for itself is taken.
    pub fn refuses_writes(&self) -> bool {
        self.0.dir.room.refuses_writes()
    }

    /// Size of all segments, in bytes.
    pub fn size_bytes(&self) -> u64 {
        self.0.core.borrow().bytes()
    }

    /// Number of segments, the active one included.
    pub fn segment_count(&self) -> usize {
        let core = self.0.core.borrow();
        core.closed.len() + usize::from(core.closing.is_some()) + 1
    }

    /// Number of producers whose state is remembered.
    pub fn producer_count(&self) -> usize {
        self.0.core.borrow().producers.entries().len()
    }

    /// Calls `each` with every remembered producer, by id (DescribeProducers).
    pub fn visit_producers(&self, mut each: impl FnMut(i64, &crate::producer::ProducerEntry)) {
        for (id, entry) in self.0.core.borrow().producers.entries() {
            each(*id, entry);
        }
    }

    /// Forgets producers that were idle for longer than `producer.id.expiration.ms` at `now_ms`.
    pub fn expire_producers(&self, now_ms: i64) {
        let idle_ms = self.0.config().producer_id_expiration_ms;
        self.0.core.borrow_mut().producers.expire(now_ms, idle_ms);
    }

    /// The newest leader epoch.
    pub fn latest_epoch(&self) -> Option<LeaderEpoch> {
        self.0.core.borrow().epochs.latest()
    }

    /// The epoch in which the record at `offset` was appended.
    pub fn epoch_at(&self, offset: Offset) -> Option<LeaderEpoch> {
        self.0.core.borrow().epochs.epoch_at(offset)
    }

    /// The newest known epoch not above `epoch`, and where it ended (OffsetForLeaderEpoch); `None` if
    /// unknown.
    pub fn end_offset_for_epoch(&self, epoch: LeaderEpoch) -> Option<(LeaderEpoch, Offset)> {
        let core = self.0.core.borrow();
        core.epochs.end_offset_for(epoch, core.end)
    }

    /// A leader's term begins at the end of the log, before it appends. Kept in memory; its file follows at
    /// the next roll or clean stop.
    pub fn assign_epoch(&self, epoch: LeaderEpoch) {
        let mut core = self.0.core.borrow_mut();
        let end = core.end;
        if core.epochs.assign(epoch, end) {
            self.0.changed.set(true);
        }
    }

    /// Brings everything appended so far to the medium.
    ///
    /// # Errors
    /// The log went offline or was cut.
    pub async fn flush(&self) -> Result<(), WaitError> {
        let end = self.end_offset();
        self.0.flush_wanted.set(self.0.flush_wanted.get().max(end));
        self.0.dir.mark_dirty(&self.0);
        self.wait_synced(end).await
    }

    /// Whether it is the same log: of the same partition, in the same directory, since the same opening.
    pub fn is(&self, other: &Log) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }

    /// Refuses appends until [`Self::unseal`], as offline: what it holds is all there will be. Reads go on.
    pub fn seal(&self) {
        self.0.refuse_appends();
    }

    /// Takes appends again.
    pub fn unseal(&self) {
        self.0.refuses_appends.set(false);
    }

    pub(crate) fn check_online(&self) -> Result<(), StorageError> {
        let refused = self.0.is_offline() || self.0.refuses_appends.get();
        if refused { Err(StorageError::Offline) } else { Ok(()) }
    }
}
