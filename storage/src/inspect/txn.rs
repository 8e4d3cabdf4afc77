//! Kafka's index of aborted transactions.
//!
//! An entry: version i16 = 0, then producer id, first offset, last offset and last stable offset, i64 each.

use bytes::Buf;

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
pub fn txn_index(file: &[u8]) -> Result<Vec<AbortedTxn>, String> {
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
