//! Every codec, both ways, and the limits of decompression.

use bytes::Bytes;

use super::{NOW_MS, all_records, built, over_block, three};
use crate::records::{
    BatchBuilder, Compression, DECOMPRESSED_BYTES_MAX, Decompressor, RecordBatch, RecordsError, compress,
    recompress,
};

fn decompress(codec: Compression, block: &[u8], limit: u64) -> Result<Vec<u8>, RecordsError> {
    let mut stream = Decompressor::new(codec, block, limit)?;
    let (mut out, mut piece) = (Vec::new(), [0; 999]);
    loop {
        match stream.read_some(&mut piece)? {
            0 => return Ok(out),
            read => out.extend_from_slice(&piece[..read]),
        }
    }
}

/// Bytes that compress somewhat, longer than any codec's block.
fn text(len: usize) -> Vec<u8> {
    (0..len as u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 28) as u8 + b'a').collect()
}

#[test]
fn round_trips_at_every_length() {
    for codec in Compression::ALL {
        for len in [0, 1, 100, 32 * 1024, 32 * 1024 + 1, 300_000] {
            let plain = text(len);
            let block = compress(codec, None, &plain).unwrap();
            assert_eq!(decompress(codec, &block, u64::MAX).unwrap(), plain, "{codec} {len}");
        }
    }
}

#[test]
fn levels_are_taken() {
    let plain = text(100_000);
    for (codec, low, high) in [(Compression::Gzip, 1, 9), (Compression::Zstd, -7, 19)] {
        let low = compress(codec, Some(low), &plain).unwrap();
        let high = compress(codec, Some(high), &plain).unwrap();
        assert!(high.len() < low.len(), "{codec}");
        assert_eq!(decompress(codec, &low, u64::MAX).unwrap(), plain);
    }
}

#[test]
fn bare_and_concatenated_snappy_are_read() {
    let plain = text(50_000);
    let bare = snap::raw::Encoder::new().compress_vec(&plain).unwrap();
    assert_eq!(decompress(Compression::Snappy, &bare, u64::MAX).unwrap(), plain);
    let twice = compress(Compression::Snappy, None, b"one").unwrap().repeat(2);
    assert_eq!(decompress(Compression::Snappy, &twice, u64::MAX).unwrap(), b"oneone");
}

#[test]
fn damaged_blocks_are_errors() {
    for codec in [Compression::Gzip, Compression::Snappy, Compression::Lz4, Compression::Zstd] {
        let block = compress(codec, None, &text(40_000)).unwrap();
        for len in [1, 3, 10, 17, block.len() / 2] {
            let cut = decompress(codec, &block[..len], u64::MAX);
            if codec == Compression::Lz4 && cut.as_ref().is_ok_and(|plain| plain.len() < 40_000) {
                continue; // a cut frame just ends early: the missing records tell
            }
            assert!(matches!(cut, Err(RecordsError::Decompress { .. })), "{codec} cut at {len}: {cut:?}");
        }
        let garbage = decompress(codec, &[0xff; 100], u64::MAX);
        assert!(matches!(garbage, Err(RecordsError::Decompress { .. })), "{codec} {garbage:?}");
    }
}

#[test]
fn a_snappy_block_may_not_claim_more_than_it_can_hold() {
    // A claim of 4 GiB - 1, then one literal byte.
    let block = [0xff, 0xff, 0xff, 0xff, 0x0f, 0x00, b'x'];
    let lie = decompress(Compression::Snappy, &block, u64::MAX);
    assert!(matches!(lie, Err(RecordsError::Decompress { .. })), "{lie:?}");
}

/// One record whose value is 64 MiB of zeros in some tens of KiB: refused at the limit by all who read it.
#[test]
fn a_decompression_bomb_ends_at_the_limit() {
    let limit = 1 << 20;
    for codec in [Compression::Gzip, Compression::Snappy, Compression::Lz4, Compression::Zstd] {
        let mut bomb = BatchBuilder::new().compression(codec);
        bomb.push(NOW_MS, None, Some(&vec![0; 64 << 20]), &[]);
        let bomb = built(bomb);
        let expected = RecordsError::DecompressedTooLarge { limit };
        assert_eq!(bomb.walk(limit, |_| {}), Err(expected.clone()), "{codec}");
        assert_eq!(bomb.records_within(limit).next(), Some(Err(expected)), "{codec}");
        assert_eq!(bomb.walk(DECOMPRESSED_BYTES_MAX, |_| {}).unwrap().records, 1, "{codec}");
    }
}

#[test]
fn bytes_after_the_last_compressed_record_are_refused() {
    let plain = built(three(Compression::None)).records_block();
    for codec in Compression::ALL {
        let longer = compress(codec, None, &[&plain[..], b"x"].concat()).unwrap();
        let batch = RecordBatch::parse(over_block(codec, 3, &longer)).unwrap();
        assert!(batch.walk(DECOMPRESSED_BYTES_MAX, |_| {}).is_err(), "{codec}");
    }
}

#[test]
fn recompression_changes_the_codec_alone() {
    for from in Compression::ALL {
        for to in Compression::ALL {
            let batch = built(three(from).base_offset(1_000).transactional(true));
            let other = recompress(&batch, to, None, DECOMPRESSED_BYTES_MAX).unwrap();
            assert_eq!(all_records(&other), all_records(&batch), "{from} {to}");
            let mut header = *other.header();
            header.attributes = header.attributes.with_compression(from);
            (header.crc, header.batch_length) = (batch.header().crc, batch.header().batch_length);
            assert_eq!(&header, batch.header(), "{from} {to}");
        }
    }
}

#[test]
fn recompression_keeps_an_append_time() {
    let mut batch = BatchBuilder::new().log_append_time(NOW_MS + 9);
    batch.push(NOW_MS, None, Some(b"v"), &[]);
    let other = recompress(&built(batch), Compression::Gzip, None, DECOMPRESSED_BYTES_MAX).unwrap();
    assert_eq!(other.header().max_timestamp, NOW_MS + 9);
    assert_eq!(all_records(&other)[0].timestamp, NOW_MS + 9);
}

/// Compressed records are cut from shared pieces; a record longer than a piece must come out whole.
#[test]
fn long_compressed_records_come_out_whole() {
    for codec in Compression::ALL {
        let values: Vec<Vec<u8>> = [10, 70_000, 1, 16_384, 16_370].map(text).to_vec();
        let mut batch = BatchBuilder::new().compression(codec);
        for value in &values {
            batch.push(NOW_MS, None, Some(value), &[]);
        }
        let batch = built(batch);
        let read: Vec<Bytes> = all_records(&batch).into_iter().map(|record| record.value.unwrap()).collect();
        assert_eq!(read, values, "{codec}");
        assert_eq!(batch.walk(DECOMPRESSED_BYTES_MAX, |_| {}).unwrap().records, 5, "{codec}");
    }
}
