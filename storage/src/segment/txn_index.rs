//! The index of aborted transactions, whose markers stand in its segment: made by Kafka, and carried on by compaction.
//!
//! An entry: version i16 = 0, then producer id, first offset, last offset and last stable offset, i64 each.

use bytes::{Buf, BufMut, Bytes, BytesMut};

use crate::Offset;

/// An aborted transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AbortedTxn {
    /// Whose it was.
    pub producer_id: i64,
    /// Its first record.
    pub first_offset: Offset,
    /// Its marker.
    pub last_offset: Offset,
    /// Up to where the log was stable when it ended.
    pub last_stable_offset: Offset,
}

const VERSION: i16 = 0;
const ENTRY_BYTES: usize = 34;

/// Reads the file.
///
/// # Errors
/// Words for what is wrong with it.
pub fn decode(file: &[u8]) -> Result<Vec<AbortedTxn>, String> {
    let (chunks, odd) = file.as_chunks::<ENTRY_BYTES>();
    if !odd.is_empty() {
        return Err(format!("{} bytes behind the last whole entry", odd.len()));
    }
    chunks.iter().map(|chunk| entry(chunk)).collect()
}

fn entry(mut fields: &[u8]) -> Result<AbortedTxn, String> {
    let version = fields.get_i16();
    if version != VERSION {
        return Err(format!("version {version} isn't known, only {VERSION}"));
    }
    Ok(AbortedTxn {
        producer_id: fields.get_i64(),
        first_offset: Offset(fields.get_i64()),
        last_offset: Offset(fields.get_i64()),
        last_stable_offset: Offset(fields.get_i64()),
    })
}

/// The file with these entries, which ascend by their markers.
pub(crate) fn encode(entries: &[AbortedTxn]) -> Bytes {
    let mut file = BytesMut::with_capacity(entries.len() * ENTRY_BYTES);
    for entry in entries {
        file.put_i16(VERSION);
        file.put_i64(entry.producer_id);
        file.put_i64(entry.first_offset.0);
        file.put_i64(entry.last_offset.0);
        file.put_i64(entry.last_stable_offset.0);
    }
    file.freeze()
}
