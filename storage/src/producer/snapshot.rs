//! Kafka's producer snapshot file.
//!
//! `version i16 = 1, crc u32, count i32`, then per producer: id i64, epoch i16, last sequence i32, last
//! offset i64, offset delta i32, timestamp i64, coordinator epoch i32, first offset of the open transaction
//! i64 (-1 without). The CRC-32C covers everything behind itself.
//!
//! Kafka keeps the last batch of a producer alone, so that after its restart a producer with several batches on their way may be told
//! that the first of them is out of order, though it is in the log. Here each remembered batch has an entry, the last one last: Kafka
//! reads entries of the same id one over the other, and so sees what it would have written.

use bytes::{Buf, BufMut, Bytes, BytesMut};

use super::{BatchRange, ProducerEntry, ProducerState};
use crate::Offset;

const VERSION: i16 = 1;
const HEAD_BYTES: usize = 6;
const ENTRY_BYTES: usize = 46;

/// The file's bytes.
pub fn encode(state: &ProducerState) -> Bytes {
    let mut file = BytesMut::with_capacity(HEAD_BYTES + 4 + state.entries().len() * ENTRY_BYTES);
    file.put_i16(VERSION);
    file.put_u32(0);
    file.put_i32(0);
    let mut count = 0;
    for (id, entry) in state.entries() {
        let older = entry.batches.len().saturating_sub(1);
        for batch in entry.batches.iter().take(older) {
            encode_batch(&mut file, *id, entry, Some(batch), batch.timestamp_ms, None);
        }
        let (last, open_txn) = (entry.batches.back(), entry.txn_first_offset);
        encode_batch(&mut file, *id, entry, last, entry.last_timestamp_ms, open_txn);
        count += older as i32 + 1;
    }
    file[HEAD_BYTES..HEAD_BYTES + 4].copy_from_slice(&count.to_be_bytes());
    let crc = crc32c::crc32c(&file[HEAD_BYTES..]);
    file[2..HEAD_BYTES].copy_from_slice(&crc.to_be_bytes());
    file.freeze()
}

fn encode_batch(
    file: &mut BytesMut,
    id: i64,
    entry: &ProducerEntry,
    batch: Option<&BatchRange>,
    timestamp_ms: i64,
    open_txn: Option<Offset>,
) {
    file.put_i64(id);
    file.put_i16(entry.epoch);
    file.put_i32(batch.map_or(-1, |batch| batch.last_sequence));
    file.put_i64(batch.map_or(-1, |batch| batch.last_offset.0));
    file.put_i32(batch.map_or(0, |batch| batch.offset_delta));
    file.put_i64(timestamp_ms);
    file.put_i32(entry.coordinator_epoch);
    file.put_i64(open_txn.map_or(-1, |offset| offset.0));
}

/// Reads the file.
///
/// # Errors
/// Words for what is wrong with it.
pub fn decode(mut file: Bytes) -> Result<ProducerState, String> {
    if file.len() < HEAD_BYTES + 4 {
        return Err(format!("{} bytes are no producer snapshot", file.len()));
    }
    let version = file.get_i16();
    if version != VERSION {
        return Err(format!("version {version} isn't known, only {VERSION}"));
    }
    let crc = file.get_u32();
    if crc32c::crc32c(&file) != crc {
        return Err("the CRC doesn't match".into());
    }
    let count = file.get_i32();
    if usize::try_from(count).ok().and_then(|count| count.checked_mul(ENTRY_BYTES)) != Some(file.len()) {
        return Err(format!("{count} producers don't take {} bytes", file.len()));
    }
    let mut state = ProducerState::default();
    for _ in 0..count {
        let (id, entry) = decode_entry(&mut file);
        state.restore(id, entry);
    }
    Ok(state)
}

fn decode_entry(file: &mut Bytes) -> (i64, ProducerEntry) {
    let id = file.get_i64();
    let mut entry = ProducerEntry::new(file.get_i16());
    let last_sequence = file.get_i32();
    let last_offset = file.get_i64();
    let offset_delta = file.get_i32();
    entry.last_timestamp_ms = file.get_i64();
    entry.coordinator_epoch = file.get_i32();
    let txn_first_offset = file.get_i64();
    if last_offset >= 0 {
        let timestamp_ms = entry.last_timestamp_ms;
        entry.batches.push_back(BatchRange {
            last_sequence,
            last_offset: Offset(last_offset),
            offset_delta,
            timestamp_ms,
        });
    }
    entry.txn_first_offset = (txn_first_offset >= 0).then_some(Offset(txn_first_offset));
    (id, entry)
}

#[cfg(test)]
mod tests;
