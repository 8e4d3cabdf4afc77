//! Reading the partitions of a shard: plan, share, wait, look up by time.

use std::rc::Rc;

use bytes::Bytes;
use futures_util::stream::{FuturesUnordered, StreamExt};
use protocol::error::ErrorCode;
use rt::Instant;
use shards::Partition;
use storage::{LeaderEpoch, Offset, ReadError};

use super::piece::{FetchPlanned, FetchShare, FetchSpot, FetchedPartition, OffsetAnswer, OffsetQuestion};
use super::state::ShardState;

/// What could be read, without any I/O.
pub(super) fn plan(shard: &Rc<ShardState>, spots: &[FetchSpot]) -> Vec<FetchPlanned> {
    spots.iter().map(|spot| plan_one(shard, spot)).collect()
}

fn plan_one(shard: &Rc<ShardState>, spot: &FetchSpot) -> FetchPlanned {
    let nothing =
        |error| FetchPlanned { error, bytes: 0, high_watermark: -1, log_start_offset: -1, diverging: None };
    let Some(partition) = shard.partition(&spot.key) else {
        return nothing(ErrorCode::NOT_LEADER_OR_FOLLOWER);
    };
    if partition.is_offline() {
        return nothing(ErrorCode::KAFKA_STORAGE_ERROR);
    }
    if let Err(error) = partition.check_epoch(spot.leader_epoch) {
        return nothing(error);
    }
    let (start, high_watermark) = (partition.log().start_offset(), partition.high_watermark());
    let offset = Offset(spot.offset);
    if spot.last_fetched_epoch >= 0
        && let Some((epoch, end)) = partition.log().end_offset_for_epoch(LeaderEpoch(spot.last_fetched_epoch))
        && (epoch.0 < spot.last_fetched_epoch || end < offset)
    {
        return FetchPlanned {
            diverging: Some((epoch.0, end.0)),
            high_watermark: high_watermark.0,
            log_start_offset: start.0,
            ..nothing(ErrorCode::NONE)
        };
    }
    if offset < start || offset > partition.log().end_offset() {
        return nothing(ErrorCode::OFFSET_OUT_OF_RANGE);
    }
    FetchPlanned {
        error: ErrorCode::NONE,
        bytes: partition.log().readable_bytes(offset, high_watermark, spot.bytes_max),
        high_watermark: high_watermark.0,
        log_start_offset: start.0,
        diverging: None,
    }
}

/// Reads partitions one after the other, each within its share and within what is left of `bytes_max`.
pub(super) async fn read(
    shard: &Rc<ShardState>,
    shares: Vec<FetchShare>,
    bytes_max: usize,
) -> Vec<FetchedPartition> {
    let mut left = bytes_max;
    let mut fetched = Vec::with_capacity(shares.len());
    for mut share in shares {
        share.spot.bytes_max = share.spot.bytes_max.min(left);
        let one = read_one(shard, share).await;
        left = left.saturating_sub(one.records.iter().map(Bytes::len).sum());
        fetched.push(one);
        rt::yield_point().await;
    }
    fetched
}

async fn read_one(shard: &Rc<ShardState>, share: FetchShare) -> FetchedPartition {
    let failed =
        |error| FetchedPartition { error, records: Vec::new(), high_watermark: -1, log_start_offset: -1 };
    let Some(partition) = shard.partition(&share.spot.key) else {
        return failed(ErrorCode::NOT_LEADER_OR_FOLLOWER);
    };
    let high_watermark = partition.high_watermark();
    let (offset, bytes_max) = (Offset(share.spot.offset), share.spot.bytes_max);
    let log = partition.log();
    let mut read = log.read(offset, high_watermark, bytes_max, share.min_one).await;
    if matches!(read, Err(ReadError::Offline)) && !partition.log().is(&log) {
        // It was moved to another directory meanwhile.
        read = partition.log().read(offset, high_watermark, bytes_max, share.min_one).await;
    }
    match read {
        Ok(slice) => {
            partition.count_out(slice.next_offset.since(offset), slice.bytes as u64);
            FetchedPartition {
                error: ErrorCode::NONE,
                records: slice.bufs,
                high_watermark: high_watermark.0,
                log_start_offset: partition.log().start_offset().0,
            }
        }
        // It went to another core meanwhile.
        Err(ReadError::Offline) if !shard.serves(&partition) => failed(ErrorCode::NOT_LEADER_OR_FOLLOWER),
        Err(error) => {
            let code = read_error_code(&error);
            if code != ErrorCode::OFFSET_OUT_OF_RANGE {
                tracing::error!(key = ?share.spot.key, %error, "a read failed");
            }
            failed(code)
        }
    }
}

fn read_error_code(error: &ReadError) -> ErrorCode {
    match error {
        ReadError::OffsetOutOfRange { .. } => ErrorCode::OFFSET_OUT_OF_RANGE,
        ReadError::Offline | ReadError::Io { .. } => ErrorCode::KAFKA_STORAGE_ERROR,
        ReadError::Corrupt { .. } => ErrorCode::CORRUPT_MESSAGE,
    }
}

/// As [`plan`], once the partitions have `bytes_min` bytes together or one of them has something else to tell, and no later than `until`.
pub(super) async fn plan_until(
    shard: &Rc<ShardState>,
    spots: &[FetchSpot],
    bytes_min: usize,
    until: Instant,
) -> Vec<FetchPlanned> {
    loop {
        let planned = plan(shard, spots);
        let bytes: usize = planned.iter().map(|planned| planned.bytes).sum();
        let left = until.saturating_since(rt::now());
        if bytes >= bytes_min || planned.iter().any(FetchPlanned::is_news) || left.is_zero() {
            return planned;
        }
        // Whichever it was: all are planned anew.
        let _ = rt::timeout(left, any_moved(shard, spots, &planned)).await;
    }
}

/// Waits until one of the partitions has a higher high watermark than was planned with, or is offline.
async fn any_moved(shard: &Rc<ShardState>, spots: &[FetchSpot], planned: &[FetchPlanned]) {
    let waits = spots.iter().zip(planned).filter_map(|(spot, planned)| {
        Some(until_moved(shard.partition(&spot.key)?, Offset(planned.high_watermark)))
    });
    let mut waits: Vec<_> = waits.collect();
    // One alone, as most consumers that wait have it, needs no set of futures.
    match waits.pop() {
        Some(wait) if waits.is_empty() => wait.await,
        last => {
            let mut waits: FuturesUnordered<_> = waits.into_iter().chain(last).collect();
            let _ = waits.next().await;
        }
    }
}

async fn until_moved(partition: Rc<Partition>, seen: Offset) {
    while partition.high_watermark() <= seen && !partition.is_offline() {
        let log = partition.log();
        log.durable_moved().notified().await;
    }
}

/// ListOffsets of one partition.
pub(super) async fn list_offset(shard: &Rc<ShardState>, question: OffsetQuestion) -> OffsetAnswer {
    const LATEST: i64 = -1;
    const EARLIEST: i64 = -2;
    const MAX_TIMESTAMP: i64 = -3;
    const EARLIEST_LOCAL: i64 = -4;
    const LATEST_TIERED: i64 = -5;
    const EARLIEST_PENDING_UPLOAD: i64 = -6;
    let answer = |error| OffsetAnswer { error, timestamp: -1, offset: -1, leader_epoch: -1 };
    let Some(partition) = shard.partition(&question.key) else {
        return answer(ErrorCode::NOT_LEADER_OR_FOLLOWER);
    };
    if partition.is_offline() {
        return answer(ErrorCode::KAFKA_STORAGE_ERROR);
    }
    if let Err(error) = partition.check_epoch(question.leader_epoch) {
        return answer(error);
    }
    let (log, none) = (partition.log(), answer(ErrorCode::NONE));
    let high_watermark = partition.high_watermark();
    let found = match question.timestamp {
        LATEST => {
            return OffsetAnswer {
                offset: high_watermark.0,
                leader_epoch: partition.leader_epoch().0,
                ..none
            };
        }
        EARLIEST | EARLIEST_LOCAL => {
            let start = log.start_offset();
            let leader_epoch = log.epoch_at(start).map_or(-1, |epoch| epoch.0);
            return OffsetAnswer { offset: start.0, leader_epoch, ..none };
        }
        LATEST_TIERED | EARLIEST_PENDING_UPLOAD => return none,
        MAX_TIMESTAMP => log.max_timestamp_offset(high_watermark).await,
        timestamp if timestamp < 0 => return answer(ErrorCode::UNSUPPORTED_VERSION),
        timestamp => log.offset_for_timestamp(timestamp, high_watermark).await,
    };
    match found {
        Ok(Some(found)) => OffsetAnswer {
            timestamp: found.timestamp_ms,
            offset: found.offset.0,
            leader_epoch: found.leader_epoch.0,
            ..none
        },
        Ok(None) => none,
        Err(ReadError::Offline) if !shard.serves(&partition) => answer(ErrorCode::NOT_LEADER_OR_FOLLOWER),
        Err(error) => answer(read_error_code(&error)),
    }
}
