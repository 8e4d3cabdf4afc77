//! Reading a coordinator's log into a decider.

use bytes::{Buf, Bytes};
use protocol::error::ErrorCode;
use protocol::records::{BatchHeader, ControlRecord, RecordBatch};

use super::{Clock, CoordinatorLog, Decider, Entry, EntryContent, LogError};
use crate::group::limits::LOAD_READ_BYTES;

/// Bytes replayed before other tasks of the shard are let in: some 100 us of work.
const YIELD_BYTES: usize = 16 * 1024;

/// Replays the whole log. Gives the offset after the last record that was there when the load began; the caller is the log's only
/// writer, so that is also its end.
///
/// Records that can't be read are reported and skipped, and so is a batch whose checksum is wrong: one of them must not take all groups of the
/// partition away, nor what comes after it. Whoever lost a commit by it reads some records again.
///
/// # Errors
/// The log can't be read, or a damaged batch doesn't even tell where the next one is. It is lost, or `is_over`, which is asked between reads.
pub(super) async fn load<D: Decider>(
    decider: &mut D,
    log: &impl CoordinatorLog,
    clock: &impl Clock,
    is_over: impl Fn() -> bool,
) -> Result<i64, LogError> {
    let end_offset = log.end_offset();
    let mut next_offset = log.start_offset();
    let mut skipped = 0usize;
    let mut unyielded_bytes = 0usize;
    while next_offset < end_offset {
        if is_over() {
            return Err(LogError::Lost);
        }
        let batches = log.read(next_offset, LOAD_READ_BYTES).await?;
        if batches.iter().all(Bytes::is_empty) {
            // Compaction may have left nothing up to the end.
            break;
        }
        let before = next_offset;
        for mut bytes in batches {
            while let Some((header, batch)) = next_batch(&mut bytes, end_offset) {
                next_offset = next_offset.max(header.last_offset() + 1);
                skipped += batch.map_or(1, |batch| replay_batch(decider, &batch));
                unyielded_bytes += header.total_bytes();
                if unyielded_bytes >= YIELD_BYTES {
                    unyielded_bytes = 0;
                    clock.yield_point().await;
                }
            }
        }
        if next_offset == before {
            tracing::error!(offset = before, "a damaged batch of a coordinator's log can't be stepped over");
            return Err(LogError::Refused(ErrorCode::CORRUPT_MESSAGE));
        }
    }
    if skipped > 0 {
        tracing::error!(skipped, "coordinator skipped records or batches it can't read");
    }
    Ok(end_offset)
}

/// Takes the next batch off; without the batch itself if it is damaged, but its header says where the next one is, and that lies within the
/// log. None at the end of what was read.
fn next_batch(bytes: &mut Bytes, end_offset: i64) -> Option<(BatchHeader, Option<RecordBatch>)> {
    match RecordBatch::split_from(bytes) {
        Ok(batch) => Some((*batch.header(), Some(batch))),
        Err(error) => {
            let header = BatchHeader::parse(bytes).ok()?;
            if header.total_bytes() > bytes.len() || header.last_offset() >= end_offset {
                return None;
            }
            tracing::error!(offset = header.base_offset, %error, "a batch of a coordinator's log is damaged");
            bytes.advance(header.total_bytes());
            Some((header, None))
        }
    }
}

/// Replays a batch's records; gives how many were skipped.
fn replay_batch<D: Decider>(decider: &mut D, batch: &RecordBatch) -> usize {
    let header = *batch.header();
    let control = header.attributes.is_control();
    let mut skipped = 0;
    for record in batch.records() {
        let Ok(record) = record else {
            return skipped + 1;
        };
        let Some(content) = content(control, &record) else { continue };
        let entry = Entry {
            offset: record.offset,
            timestamp_ms: record.timestamp,
            producer_id: if control || header.attributes.is_transactional() {
                header.producer_id
            } else {
                -1
            },
            producer_epoch: header.producer_epoch,
            content,
        };
        if let Err(error) = decider.replay(&entry) {
            tracing::warn!(%error, "coordinator can't read a record");
            skipped += 1;
        }
    }
    skipped
}

fn content(control: bool, record: &protocol::records::Record) -> Option<EntryContent> {
    if !control {
        let key = record.key.clone().unwrap_or_default();
        return Some(EntryContent::Record { key, value: record.value.clone() });
    }
    match ControlRecord::of(record) {
        Ok(ControlRecord::Commit) => Some(EntryContent::Marker { commit: true }),
        Ok(ControlRecord::Abort) => Some(EntryContent::Marker { commit: false }),
        _ => None,
    }
}
