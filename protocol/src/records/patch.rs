//! Fields that a broker writes into a batch's copy.

use super::header::{
    ATTRIBUTES_AT, Attributes, CRC_AT, CRC_START, HEADER_BYTES, LEADER_EPOCH_AT, MAX_TIMESTAMP_AT,
    TimestampType,
};

/// Writes base offset and leader epoch into the batch in `batch`. Both stand outside the CRC: this costs 12
/// bytes of writing.
///
/// # Panics
/// If `batch` is shorter than a header.
pub fn patch_offset_and_epoch(batch: &mut [u8], base_offset: i64, leader_epoch: i32) {
    assert!(batch.len() >= HEADER_BYTES, "not a batch");
    batch[0..8].copy_from_slice(&base_offset.to_be_bytes());
    batch[LEADER_EPOCH_AT..LEADER_EPOCH_AT + 4].copy_from_slice(&leader_epoch.to_be_bytes());
}

/// Writes clock and max timestamp (ms since 1970) into the batch that fills `batch`, and its new CRC: one
/// pass over the bytes.
///
/// # Panics
/// If `batch` is shorter than a header.
pub fn patch_timestamp(batch: &mut [u8], of: TimestampType, max_timestamp: i64) {
    assert!(batch.len() >= HEADER_BYTES, "not a batch");
    let old = Attributes(i16::from_be_bytes([batch[ATTRIBUTES_AT], batch[ATTRIBUTES_AT + 1]]));
    batch[ATTRIBUTES_AT..ATTRIBUTES_AT + 2].copy_from_slice(&old.with_timestamp_type(of).0.to_be_bytes());
    batch[MAX_TIMESTAMP_AT..MAX_TIMESTAMP_AT + 8].copy_from_slice(&max_timestamp.to_be_bytes());
    write_crc(batch);
}

/// Computes the CRC of the batch that fills `batch` and writes it.
pub(crate) fn write_crc(batch: &mut [u8]) {
    let crc = crc32c::crc32c(&batch[CRC_START..]);
    batch[CRC_AT..CRC_AT + 4].copy_from_slice(&crc.to_be_bytes());
}
