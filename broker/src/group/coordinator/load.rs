//! Reading a coordinator's log into a decider.

use protocol::records::{ControlRecord, RecordBatch};

use super::{Clock, CoordinatorLog, Decider, Entry, EntryContent, LogError};
use crate::group::limits::LOAD_READ_BYTES;

/// Bytes replayed before other tasks of the shard are let in: some 100 us of work.
const YIELD_BYTES: usize = 16 * 1024;

/// Replays the whole log. Gives the offset after the last record that was there when the load began; the caller is the log's only
/// writer, so that is also its end.
///
/// Records that can't be read are reported and skipped: one of them must not take all groups of the partition away.
///
/// # Errors
/// The log can't be read, or is lost.
pub(super) async fn load<D: Decider>(
    decider: &mut D,
    log: &impl CoordinatorLog,
    clock: &impl Clock,
) -> Result<i64, LogError> {
    let end_offset = log.end_offset();
    let mut next_offset = log.start_offset();
    let mut skipped = 0usize;
    let mut unyielded_bytes = 0usize;
    while next_offset < end_offset {
        let batches = log.read(next_offset, LOAD_READ_BYTES).await?;
        let before = next_offset;
        for mut bytes in batches {
            while !bytes.is_empty() {
                let Ok(batch) = RecordBatch::split_from(&mut bytes) else { break };
                next_offset = next_offset.max(batch.header().last_offset() + 1);
                skipped += replay_batch(decider, &batch);
                unyielded_bytes += batch.total_bytes();
                if unyielded_bytes >= YIELD_BYTES {
                    unyielded_bytes = 0;
                    clock.yield_point().await;
                }
            }
        }
        if next_offset == before {
            // Compaction may have left nothing up to the end.
            break;
        }
    }
    if skipped > 0 {
        tracing::error!(skipped, "coordinator skipped records it can't read");
    }
    Ok(end_offset)
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
