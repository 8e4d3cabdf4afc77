//! What is left of a batch when log compaction has taken records out of it (KIP-534): its offsets and its producer
//! stay as they were.

use bytes::Bytes;

use super::Compression;
use super::header::{BatchHeader, HEADER_BYTES, LENGTH_END};
use super::patch::write_crc;

/// A batch without any of its records: kept for its last offset, and for its producer's epoch and last sequence.
/// Uncompressed, without a delete horizon; the largest timestamp stays though its record is gone, as Kafka has it.
pub fn emptied(header: &BatchHeader) -> Bytes {
    let attributes = header.attributes.with_compression(Compression::None).with_delete_horizon(false);
    let header = BatchHeader {
        batch_length: (HEADER_BYTES - LENGTH_END) as i32,
        attributes,
        base_timestamp: -1,
        records_count: 0,
        ..*header
    };
    let mut head = [0; HEADER_BYTES];
    header.write_to(&mut head);
    write_crc(&mut head);
    Bytes::copy_from_slice(&head)
}
