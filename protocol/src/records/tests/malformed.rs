//! Bytes that aren't a batch, batches whose records aren't records, and scans over several.

use bytes::Bytes;

use super::{NOW_MS, built, over_block, three};
use crate::records::{
    BatchBuilder, BatchHeader, BatchScan, Compression, DECOMPRESSED_BYTES_MAX, HEADER_BYTES, HeaderScan,
    RecordBatch, RecordsError, TimestampType, batch_bytes, patch_offset_and_epoch, patch_timestamp,
};

fn whole() -> Bytes {
    three(Compression::None).build().unwrap()
}

fn changed(at: usize, to: u8) -> Bytes {
    let mut bytes = whole().to_vec();
    bytes[at] = to;
    Bytes::from(bytes)
}

#[test]
fn every_cut_is_truncated() {
    let whole = whole();
    for len in 0..whole.len() {
        let cut = RecordBatch::parse(whole.slice(..len));
        assert!(matches!(cut, Err(RecordsError::Truncated { have, .. }) if have == len), "{len}: {cut:?}");
    }
}

#[test]
fn every_flipped_bit_is_found_but_in_offset_and_epoch() {
    let whole = whole();
    for at in 0..whole.len() {
        let parsed = RecordBatch::parse(changed(at, whole[at] ^ 0x10));
        let outside_the_crc = (0..8).contains(&at) || (12..16).contains(&at);
        assert_eq!(parsed.is_ok(), outside_the_crc, "byte {at}: {parsed:?}");
    }
}

#[test]
fn impossible_headers_are_named() {
    assert_eq!(batch_bytes(&[0; 16]), Ok(None));
    assert_eq!(batch_bytes(&[0; 64]), Err(RecordsError::BadLength(0)));
    assert_eq!(
        batch_bytes(&changed(8, 0xff)),
        Err(RecordsError::BadLength(i32::from_be_bytes([0xff, 0, 0, whole()[11]])))
    );
    assert_eq!(RecordBatch::parse(changed(16, 1)), Err(RecordsError::UnsupportedMagic(1)));
    let longer = Bytes::from([&whole()[..], b"x"].concat());
    assert_eq!(RecordBatch::parse(longer), Err(RecordsError::TrailingBytes(1)));
}

#[test]
fn a_length_is_known_before_the_batch_is_whole() {
    let whole = whole();
    assert_eq!(batch_bytes(&whole[..17]), Ok(Some(whole.len())));
    assert_eq!(BatchHeader::parse(&whole[..HEADER_BYTES]).unwrap().total_bytes(), whole.len());
}

/// Records as bytes: length, attributes, timestamp delta, offset delta, key length, value length, header
/// count.
#[test]
fn malformed_records_are_refused_by_walk_and_iterator() {
    let cases: [(&str, &[u8]); 14] = [
        ("nothing", &[]),
        ("length negative", &[1, 0, 0, 0, 1, 1, 0]),
        ("length too short", &[10, 0, 0, 0, 1, 1, 0]),
        ("length too long", &[14, 0, 0, 0, 1, 1, 0, 0]),
        ("length beyond the block", &[200, 1, 0, 0, 0, 1, 1, 0]),
        ("length of 70 bits", &[0xff; 12]),
        ("key length -2", &[12, 0, 0, 0, 3, 1, 0]),
        ("key beyond the record", &[12, 0, 0, 0, 20, 1, 0]),
        ("value beyond the record", &[12, 0, 0, 0, 1, 20, 0]),
        ("header count -1", &[12, 0, 0, 0, 1, 1, 1]),
        ("header count of a billion", &[20, 0, 0, 0, 1, 1, 0x80, 0xa8, 0xd6, 0xb9, 7]),
        ("null header key", &[16, 0, 0, 0, 1, 1, 2, 1, 1]),
        ("offset delta over 32 bits", &[22, 0, 0, 0xfe, 0xff, 0xff, 0xff, 0xff, 1, 1, 1, 0]),
        ("missing fields", &[4, 0, 0]),
    ];
    for (name, block) in cases {
        let batch = RecordBatch::parse(over_block(Compression::None, 1, block)).unwrap();
        assert!(batch.walk(DECOMPRESSED_BYTES_MAX, |_| {}).is_err(), "walk: {name}");
        let mut records = batch.records();
        assert!(records.next().unwrap().is_err(), "iterator: {name}");
        assert!(records.next().is_none(), "ends after an error: {name}");
    }
}

#[test]
fn offsets_must_rise_within_the_batch() {
    let record = |delta: u8| [12, 0, 0, delta << 1, 1, 1, 0];
    let repeated = [record(0), record(0)].concat();
    let batch = RecordBatch::parse(over_block(Compression::None, 2, &repeated)).unwrap();
    assert!(matches!(batch.walk(0, |_| {}), Err(RecordsError::MalformedRecord { index: 1, .. })));
    let beyond = [record(0), record(5)].concat();
    let batch = RecordBatch::parse(over_block(Compression::None, 2, &beyond)).unwrap();
    assert!(matches!(batch.walk(0, |_| {}), Err(RecordsError::Inconsistent(_))));
}

#[test]
fn a_scan_ends_silently_at_a_partial_batch_and_loudly_at_a_bad_one() {
    let whole = whole();
    let row = Bytes::from([&whole[..], &whole[..], &whole[..whole.len() - 1]].concat());
    let mut scan = BatchScan::new(row.clone());
    assert_eq!(scan.by_ref().map(Result::unwrap).count(), 2);
    assert_eq!(scan.rest().len(), whole.len() - 1);
    let mut headers = HeaderScan::new(&row);
    let positions: Vec<usize> = headers.by_ref().map(|found| found.unwrap().0).collect();
    assert_eq!((positions, headers.position()), (vec![0, whole.len()], 2 * whole.len()));

    let zero_tailed = Bytes::from([&whole[..], &[0; 4096]].concat());
    let outcomes: Vec<bool> = BatchScan::new(zero_tailed.clone()).map(|batch| batch.is_ok()).collect();
    assert_eq!(outcomes, [true, false]);
    let outcomes: Vec<bool> = HeaderScan::new(&zero_tailed).map(|found| found.is_ok()).collect();
    assert_eq!(outcomes, [true, false]);
}

#[test]
fn patches_leave_a_batch_valid() {
    let mut copy = whole().to_vec();
    patch_offset_and_epoch(&mut copy, 1 << 40, 9);
    patch_timestamp(&mut copy, TimestampType::LogAppendTime, NOW_MS + 77);
    let batch = RecordBatch::parse(copy.into()).unwrap();
    assert_eq!((batch.header().base_offset, batch.header().last_offset()), (1 << 40, (1 << 40) + 2));
    assert_eq!((batch.header().partition_leader_epoch, batch.header().max_timestamp), (9, NOW_MS + 77));
    assert!(batch.records().all(|record| record.unwrap().timestamp == NOW_MS + 77));
    let walked = batch.walk(0, |record| assert_eq!(record.timestamp, NOW_MS + 77)).unwrap();
    assert_eq!((walked.max_timestamp, walked.max_timestamp_offset_delta), (NOW_MS + 77, 0));
}

#[test]
fn sequences_wrap_to_zero() {
    let mut batch = BatchBuilder::new().producer(1, 0, i32::MAX);
    batch.push(NOW_MS, None, None, &[]);
    batch.push(NOW_MS, None, None, &[]);
    assert_eq!(built(batch).header().last_sequence(), 0);
}

/// Compaction removes records but keeps the batch's last offset, and may leave a batch without any.
#[test]
fn rewritten_batches_keep_their_offsets() {
    let batch = built(three(Compression::Zstd).base_offset(500));
    let mut fewer = BatchBuilder::like(batch.header());
    fewer.push_record(&batch.records().nth(1).unwrap().unwrap());
    let fewer = built(fewer);
    assert_eq!((fewer.header().base_offset, fewer.header().last_offset()), (500, 502));
    assert_eq!((fewer.header().records_count, fewer.records().next().unwrap().unwrap().offset), (1, 501));
    let none = built(BatchBuilder::like(batch.header()));
    assert_eq!((none.header().last_offset(), none.records().count()), (502, 0));
    assert_eq!(none.header().last_sequence(), 44);
}
