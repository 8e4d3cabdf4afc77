//! Tests of record batches; the shared pieces stand here.

mod bytes_of_java;
mod codecs;
mod malformed;
mod properties;
mod thin;
mod validation;

use bytes::Bytes;

use super::{BatchBuilder, BatchHeader, Compression, HEADER_BYTES, Record, RecordBatch, patch::write_crc};

/// A time that is "now" to these tests, in ms since 1970.
const NOW_MS: i64 = 1_700_000_000_000;

/// A batch of three records: with headers (one key twice, a null value), without key, a tombstone with an
/// empty key.
fn three(codec: Compression) -> BatchBuilder {
    let mut batch = BatchBuilder::new().compression(codec).producer(7, 3, 42).leader_epoch(5);
    batch.push(NOW_MS, Some(b"key"), Some(b"value"), &[(&b"h"[..], Some(&b"1"[..])), (&b"h"[..], None)]);
    batch.push(NOW_MS + 5, None, Some(&[b'v'; 100]), &[]);
    batch.push(NOW_MS + 2, Some(b""), None, &[]);
    batch
}

fn built(batch: BatchBuilder) -> RecordBatch {
    RecordBatch::parse(batch.build().unwrap()).unwrap()
}

fn all_records(batch: &RecordBatch) -> Vec<Record> {
    batch.records().collect::<Result<_, _>>().unwrap()
}

/// `batch` with its header changed and the CRC made good again.
fn with_header(batch: &RecordBatch, change: impl FnOnce(&mut BatchHeader)) -> Bytes {
    let mut bytes = batch.bytes().to_vec();
    let mut header = *batch.header();
    change(&mut header);
    let mut head = [0; HEADER_BYTES];
    header.write_to(&mut head);
    bytes[..HEADER_BYTES].copy_from_slice(&head);
    write_crc(&mut bytes);
    Bytes::from(bytes)
}

/// A batch that claims `count` records, all offsets up to it, over this block as it is.
fn over_block(codec: Compression, count: i32, block: &[u8]) -> Bytes {
    let mut bytes = vec![0; HEADER_BYTES];
    bytes.extend_from_slice(block);
    let template = built(three(codec));
    let header = BatchHeader {
        batch_length: (bytes.len() - 12) as i32,
        records_count: count,
        last_offset_delta: count - 1,
        ..*template.header()
    };
    let mut head = [0; HEADER_BYTES];
    header.write_to(&mut head);
    bytes[..HEADER_BYTES].copy_from_slice(&head);
    write_crc(&mut bytes);
    Bytes::from(bytes)
}
