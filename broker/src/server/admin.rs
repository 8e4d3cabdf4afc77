//! What admin APIs ask of the partitions of a shard, and of its logs.

use std::rc::Rc;

use protocol::error::ErrorCode;
use protocol::types::Str;
use shards::{Partition, PartitionKey};
use storage::{LeaderEpoch, Log, Offset};

use super::moving;
use super::state::ShardState;

/// `offset` of [`AdminPiece::DeleteRecords`] that stands for the high watermark.
const HIGH_WATERMARK: i64 = -1;

/// A question to the shard that owns a partition; the last one to every shard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AdminPiece {
    /// Drop the records before an offset.
    DeleteRecords {
        /// Where.
        key: PartitionKey,
        /// The first offset to keep; -1 keeps none that consumers may read.
        offset: i64,
    },
    /// Where an epoch ended.
    EpochEnd {
        /// Where.
        key: PartitionKey,
        /// The leader epoch the client believes in, -1 if it doesn't say.
        current_epoch: i32,
        /// The epoch it asks for.
        epoch: i32,
    },
    /// Producers that are remembered.
    Producers(PartitionKey),
    /// Move its log to another log directory.
    MoveLog {
        /// Which.
        key: PartitionKey,
        /// Place of the directory in `log.dirs`.
        to: usize,
    },
    /// Sizes of all logs.
    LogSizes,
}

/// The answer to the piece of the same name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AdminAnswer {
    /// To `DeleteRecords`: where the log starts now.
    DeleteRecords(Result<i64, ErrorCode>),
    /// To `EpochEnd`: epoch and end offset, -1 both if unknown.
    EpochEnd(Result<(i32, i64), ErrorCode>),
    /// To `Producers`, by id.
    Producers(Result<Vec<ProducerRow>, ErrorCode>),
    /// To `MoveLog`: NONE if it is begun, or there.
    MoveLog(ErrorCode),
    /// To `LogSizes`.
    LogSizes(Vec<LogSize>),
}

impl AdminAnswer {
    /// Whether the shard that was asked doesn't have the partition.
    pub(crate) fn is_of_another(&self) -> bool {
        let code = match self {
            Self::DeleteRecords(answer) => answer.as_ref().err(),
            Self::EpochEnd(answer) => answer.as_ref().err(),
            Self::Producers(answer) => answer.as_ref().err(),
            Self::MoveLog(code) => return *code == ErrorCode::REPLICA_NOT_AVAILABLE,
            Self::LogSizes(_) => None,
        };
        code == Some(&ErrorCode::NOT_LEADER_OR_FOLLOWER)
    }
}

/// A producer as DescribeProducers tells it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProducerRow {
    /// Its id.
    pub id: i64,
    /// Its epoch.
    pub epoch: i16,
    /// Sequence of its last record, -1 without.
    pub last_sequence: i32,
    /// When it was last seen, in ms since 1970.
    pub last_timestamp_ms: i64,
    /// Epoch of the coordinator that wrote its last transaction marker, -1 without.
    pub coordinator_epoch: i32,
    /// First offset of its open transaction, -1 without.
    pub txn_start_offset: i64,
}

/// A log with its size.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogSize {
    /// Topic.
    pub topic: Str,
    /// Number of the partition.
    pub partition: i32,
    /// Place of its log directory in `log.dirs`.
    pub dir: usize,
    /// All its segments, in bytes.
    pub bytes: u64,
    /// If it is a copy on its way to that directory: how many offsets behind.
    pub future_lag: Option<u64>,
}

/// Answers a piece.
pub(super) async fn handle(shard: &Rc<ShardState>, piece: AdminPiece) -> AdminAnswer {
    match piece {
        AdminPiece::DeleteRecords { key, offset } => {
            AdminAnswer::DeleteRecords(delete_records(shard, &key, offset).await)
        }
        AdminPiece::EpochEnd { key, current_epoch, epoch } => {
            AdminAnswer::EpochEnd(epoch_end(shard, &key, current_epoch, epoch))
        }
        AdminPiece::Producers(key) => AdminAnswer::Producers(producers(shard, &key)),
        AdminPiece::MoveLog { key, to } => AdminAnswer::MoveLog(moving::begin(shard, key, to).await),
        AdminPiece::LogSizes => AdminAnswer::LogSizes(log_sizes(shard).await),
    }
}

fn led(shard: &Rc<ShardState>, key: &PartitionKey) -> Result<Rc<Partition>, ErrorCode> {
    let partition = shard.partition(key).ok_or(ErrorCode::NOT_LEADER_OR_FOLLOWER)?;
    if partition.is_offline() { Err(ErrorCode::KAFKA_STORAGE_ERROR) } else { Ok(partition) }
}

async fn delete_records(shard: &Rc<ShardState>, key: &PartitionKey, offset: i64) -> Result<i64, ErrorCode> {
    let partition = led(shard, key)?;
    let high_watermark = partition.high_watermark();
    let offset = if offset == HIGH_WATERMARK { high_watermark } else { Offset(offset) };
    if offset < Offset::ZERO || offset > high_watermark {
        return Err(ErrorCode::OFFSET_OUT_OF_RANGE);
    }
    partition.log().advance_start_offset(offset).await.map_err(|error| {
        if !shard.serves(&partition) {
            return ErrorCode::NOT_LEADER_OR_FOLLOWER;
        }
        tracing::warn!(?key, %error, "records weren't deleted");
        ErrorCode::KAFKA_STORAGE_ERROR
    })?;
    Ok(partition.log().start_offset().0)
}

fn epoch_end(
    shard: &Rc<ShardState>,
    key: &PartitionKey,
    current_epoch: i32,
    epoch: i32,
) -> Result<(i32, i64), ErrorCode> {
    let partition = led(shard, key)?;
    partition.check_epoch(current_epoch)?;
    let found = partition.log().end_offset_for_epoch(LeaderEpoch(epoch));
    Ok(found.map_or((-1, -1), |(epoch, end)| (epoch.0, end.0)))
}

fn producers(shard: &Rc<ShardState>, key: &PartitionKey) -> Result<Vec<ProducerRow>, ErrorCode> {
    let partition = led(shard, key)?;
    let mut rows = Vec::with_capacity(partition.log().producer_count());
    partition.log().visit_producers(|id, entry| {
        rows.push(ProducerRow {
            id,
            epoch: entry.epoch,
            last_sequence: entry.last_sequence(),
            last_timestamp_ms: entry.last_timestamp_ms,
            coordinator_epoch: entry.coordinator_epoch,
            txn_start_offset: entry.txn_first_offset.map_or(-1, |first| first.0),
        });
    });
    Ok(rows)
}

/// Those in directories that are online.
async fn log_sizes(shard: &Rc<ShardState>) -> Vec<LogSize> {
    let mut sizes = Vec::new();
    for (dir, online) in shard.log_dirs.all().filter_map(|(index, dir)| Some((index, dir.online()?))) {
        for log in online.logs() {
            sizes.push(log_size(&log, dir, None));
            rt::yield_point().await;
        }
    }
    let moves = shard.moves.all();
    sizes.extend(moves.iter().map(|moved| log_size(moved.future(), moved.to(), Some(moved.lag()))));
    sizes
}

fn log_size(log: &Log, dir: usize, future_lag: Option<u64>) -> LogSize {
    let name = log.partition();
    let (topic, partition) = (Str::from(name.topic.as_str()), name.partition);
    LogSize { topic, partition, dir, bytes: log.size_bytes(), future_lag }
}
