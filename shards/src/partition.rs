//! [`Partition`]: the leader of a partition on the shard that owns it.

use std::cell::RefCell;
use std::rc::Rc;

use protocol::error::ErrorCode;
use protocol::records::RecordBatch;
use rt::sync::{Budget, Permit};
use storage::{AppendError, LeaderEpoch, Log, Offset, Reservation, StorageError, WaitError};

use crate::{PartitionKey, Traffic};

/// A partition that this shard leads.
///
/// ```text
///   start <= high watermark <= end          high watermark: the lowest end that a replica of the ISR reports
/// ```
///
/// A replica reports its synced end, or its written end where `ringlog.acks.all.sync=false`. Replicas on other nodes come with
/// replication: until then the ISR is this node alone, so the high watermark is the log's own durable end.
#[derive(Debug)]
pub struct Partition {
    key: PartitionKey,
    /// It moves from one log directory to another.
    log: RefCell<Log>,
    epoch: LeaderEpoch,
    /// Whose turn it is to append: one reservation at a time, first come first served. Without it a batch that finds space at once
    /// would overtake an earlier one of the same producer that waits for the file to grow.
    turn: Budget,
    /// Of its topic on this shard.
    traffic: Rc<Traffic>,
    own_traffic: Traffic,
    led_since_ms: i64,
}

/// Where a batch went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Appended {
    /// Offset of its first record.
    pub base_offset: Offset,
    /// Offset of its last record.
    pub last_offset: Offset,
    /// The broker's time on the records in ms since 1970, -1 if they keep the producer's; of a duplicate the largest time in the first copy.
    pub append_time_ms: i64,
    /// Where the log starts.
    pub log_start_offset: Offset,
}

/// Why a partition refused, with the code a client gets.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct PartitionError {
    /// Kafka's code.
    pub code: ErrorCode,
    /// In words.
    pub message: String,
}

impl Partition {
    /// Leads `log` from now on, in `epoch`; what goes in and out is counted in `traffic`.
    pub fn lead(key: PartitionKey, log: Log, epoch: LeaderEpoch, traffic: Rc<Traffic>) -> Partition {
        log.assign_epoch(epoch);
        Partition {
            key,
            log: RefCell::new(log),
            epoch,
            turn: Budget::new(1),
            traffic,
            own_traffic: Traffic::default(),
            led_since_ms: rt::unix_ms(),
        }
    }

    /// Which partition.
    pub fn key(&self) -> PartitionKey {
        self.key
    }

    /// Its log, where it is now. Who keeps it may see it end, when the partition is moved to another log directory.
    pub fn log(&self) -> Log {
        self.log.borrow().clone()
    }

    /// Keeps batches of clients waiting until the permit is dropped; those that came earlier are in the log when this returns.
    pub async fn pause(&self) -> Permit {
        self.turn.take(1).await
    }

    /// Goes on with `log`, which holds the same: the partition was moved to another log directory. The other one may be deleted then.
    pub fn move_to(&self, log: Log) {
        log.assign_epoch(self.epoch);
        self.log.replace(log);
    }

    /// The epoch of this leadership.
    pub fn leader_epoch(&self) -> LeaderEpoch {
        self.epoch
    }

    /// Its own traffic since [`Self::led_since_ms`].
    pub fn traffic(&self) -> &Traffic {
        &self.own_traffic
    }

    /// Since when it is led here, in ms since 1970.
    pub fn led_since_ms(&self) -> i64 {
        self.led_since_ms
    }

    /// Counts what was handed to a consumer. Appends count themselves.
    pub fn count_out(&self, records: u64, bytes: u64) {
        self.traffic.count_out(records, bytes);
        self.own_traffic.count_out(records, bytes);
    }

    /// Whether it can't serve any more: the log's directory failed.
    pub fn is_offline(&self) -> bool {
        self.log().is_offline()
    }

    /// Up to where consumers may read. [`Log::durable_moved`] tells when it moves.
    pub fn high_watermark(&self) -> Offset {
        self.log().durable_offset()
    }

    /// Appends a producer's batch. Batches are appended in the order of the calls. A duplicate is answered with where the first copy is.
    ///
    /// # Errors
    /// KAFKA_STORAGE_ERROR, RECORD_LIST_TOO_LARGE, OUT_OF_ORDER_SEQUENCE_NUMBER, INVALID_PRODUCER_EPOCH. Nothing was appended.
    pub async fn append(
        &self,
        batch: &RecordBatch,
        frame_bytes: usize,
        now_ms: i64,
    ) -> Result<Appended, PartitionError> {
        if self.log().refuses_writes() {
            // What was appended and not answered is told all the same: its producer would report it as lost.
            return match self.log().duplicate_of(batch) {
                Some(duplicate) => self.settle(Err(duplicate), batch),
                None => Err(StorageError::NoSpace.into()),
            };
        }
        let _turn = self.turn.take(1).await;
        // It isn't moved in somebody's turn.
        let log = self.log();
        loop {
            let reservation = log.reserve_batch(batch).await?.of_frame(frame_bytes);
            match log.append(reservation, batch.clone(), self.epoch, now_ms) {
                Err(AppendError::SegmentOffsetsFull) => log.roll().await?,
                Err(AppendError::ReservationVoid) => {}
                result => return self.settle(result, batch),
            }
        }
    }

    /// Appends a batch of the node's own into space that was reserved ahead; never awaits.
    ///
    /// # Errors
    /// As of [`Self::append`].
    pub fn append_reserved(
        &self,
        reservation: Reservation,
        batch: RecordBatch,
        now_ms: i64,
    ) -> Result<Appended, PartitionError> {
        self.settle(self.log().append(reservation, batch.clone(), self.epoch, now_ms), &batch)
    }

    /// Waits until the leader has written `offset`: what acks=1 promises.
    ///
    /// # Errors
    /// KAFKA_STORAGE_ERROR: whether the record will survive is not known.
    pub async fn wait_written(&self, offset: Offset) -> Result<(), PartitionError> {
        self.wait_moved(async |log| log.wait_written(offset.plus(1)).await).await
    }

    /// Waits until the high watermark has passed `offset`: what acks=all promises.
    ///
    /// # Errors
    /// As of [`Self::wait_written`].
    pub async fn wait_committed(&self, offset: Offset) -> Result<(), PartitionError> {
        let end = offset.plus(1);
        self.wait_moved(async |log| match log.config().sync {
            true => log.wait_synced(end).await,
            false => log.wait_written(end).await,
        })
        .await
    }

    /// Waits at the log; once more, if it was moved meanwhile.
    async fn wait_moved(
        &self,
        wait: impl AsyncFn(&Log) -> Result<(), WaitError>,
    ) -> Result<(), PartitionError> {
        loop {
            let log = self.log();
            match wait(&log).await {
                Err(_) if !self.log().is(&log) => {}
                waited => return waited.map_err(|error| storage_error(error.to_string())),
            }
        }
    }

    /// Checks the leader epoch that a client believes in; -1 doesn't say (KIP-320).
    ///
    /// # Errors
    /// FENCED_LEADER_EPOCH for an older one, UNKNOWN_LEADER_EPOCH for a newer one.
    pub fn check_epoch(&self, believed: i32) -> Result<(), ErrorCode> {
        match believed {
            -1 => Ok(()),
            older if older < self.epoch.0 => Err(ErrorCode::FENCED_LEADER_EPOCH),
            newer if newer > self.epoch.0 => Err(ErrorCode::UNKNOWN_LEADER_EPOCH),
            _ => Ok(()),
        }
    }

    fn settle(
        &self,
        result: Result<storage::AppendInfo, AppendError>,
        batch: &RecordBatch,
    ) -> Result<Appended, PartitionError> {
        match result {
            Ok(info) => {
                let records = u64::try_from(batch.header().records_count).unwrap_or(0);
                self.traffic.count_in(records, batch.total_bytes() as u64);
                self.own_traffic.count_in(records, batch.total_bytes() as u64);
                Ok(Appended {
                    base_offset: info.base_offset,
                    last_offset: info.last_offset,
                    append_time_ms: info.append_time_ms,
                    log_start_offset: info.log_start_offset,
                })
            }
            // As in Kafka the batch's time is told whoever set it: -1 would be no time on a topic of LogAppendTime.
            Err(AppendError::Duplicate { base_offset, last_offset, timestamp_ms }) => Ok(Appended {
                base_offset,
                last_offset,
                append_time_ms: timestamp_ms,
                log_start_offset: self.log().start_offset(),
            }),
            Err(error) => {
                let code = match error {
                    AppendError::OutOfOrderSequence { .. } => ErrorCode::OUT_OF_ORDER_SEQUENCE_NUMBER,
                    AppendError::InvalidProducerEpoch { .. } => ErrorCode::INVALID_PRODUCER_EPOCH,
                    AppendError::Offline => ErrorCode::KAFKA_STORAGE_ERROR,
                    AppendError::StaleEpoch { .. } | AppendError::ReservationVoid => {
                        ErrorCode::NOT_LEADER_OR_FOLLOWER
                    }
                    AppendError::Duplicate { .. }
                    | AppendError::ReservationTooSmall { .. }
                    | AppendError::SegmentOffsetsFull
                    | AppendError::NotContiguous { .. } => ErrorCode::UNKNOWN_SERVER_ERROR,
                };
                Err(PartitionError { code, message: error.to_string() })
            }
        }
    }
}

impl From<StorageError> for PartitionError {
    fn from(error: StorageError) -> Self {
        let code = match error {
            StorageError::TooLarge { .. } => ErrorCode::RECORD_LIST_TOO_LARGE,
            _ => ErrorCode::KAFKA_STORAGE_ERROR,
        };
        PartitionError { code, message: error.to_string() }
    }
}

fn storage_error(message: String) -> PartitionError {
    PartitionError { code: ErrorCode::KAFKA_STORAGE_ERROR, message }
}
