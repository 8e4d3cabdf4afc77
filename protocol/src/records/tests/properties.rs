//! Any records, any codec: what is built is read, by us and by the `kafka-protocol` crate; and no bytes make
//! a reader panic.

use bytes::Bytes;
use kafka_protocol::records::RecordBatchDecoder;
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

use super::{all_records, built, over_block};
use crate::records::{
    BatchBuilder, BatchScan, Compression, DECOMPRESSED_BYTES_MAX, HeaderScan, ProduceRules, Record,
    RecordBatch, RecordHeader, validate, varint,
};

prop_compose! {
    fn field(len_max: usize)(bytes in vec(any::<u8>(), 0..len_max)) -> Bytes { Bytes::from(bytes) }
}

prop_compose! {
    fn record()(
        timestamp in any::<i64>(),
        key in option::of(field(20)),
        value in option::of(field(300)),
        headers in vec((field(5), option::of(field(5))), 0..4),
    ) -> Record {
        let headers = headers.into_iter().map(|(key, value)| RecordHeader { key, value }).collect();
        Record { attributes: 0, timestamp, offset: 0, key, value, headers }
    }
}

fn codec() -> impl Strategy<Value = Compression> {
    proptest::sample::select(&Compression::ALL[..])
}

fn batch_of(codec: Compression, base_offset: i64, records: &mut [Record]) -> RecordBatch {
    let mut batch = BatchBuilder::new().compression(codec).base_offset(base_offset);
    for (i, record) in records.iter_mut().enumerate() {
        record.offset = base_offset + i as i64;
        batch.push_record(record);
    }
    built(batch)
}

proptest! {
    #[test]
    fn built_records_are_read(codec in codec(), base in 0..i64::MAX / 2, mut records in vec(record(), 1..40)) {
        let batch = batch_of(codec, base, &mut records);
        prop_assert_eq!(&all_records(&batch), &records);
        let mut seen = 0;
        let walked = batch.walk(DECOMPRESSED_BYTES_MAX, |walked| {
            let record = &records[walked.index as usize];
            assert_eq!((walked.timestamp, walked.has_key), (record.timestamp, record.key.is_some()));
            assert_eq!((walked.has_value, walked.offset_delta), (record.value.is_some(), walked.index as i32));
            seen += 1;
        }).unwrap();
        prop_assert_eq!(walked.records as usize, seen);
        prop_assert_eq!(walked.max_timestamp, records.iter().map(|record| record.timestamp).max().unwrap().max(-1));
    }

    #[test]
    fn the_kafka_protocol_crate_reads_the_same(mut records in vec(record(), 1..20)) {
        // Its headers are a map with text for keys.
        for record in &mut records {
            record.headers.clear();
            record.timestamp &= 0xffff_ffff_ffff;
        }
        let batch = batch_of(Compression::None, 10, &mut records);
        let theirs = RecordBatchDecoder::decode(&mut batch.bytes().clone()).unwrap().records;
        prop_assert_eq!(theirs.len(), records.len());
        for (their, our) in theirs.iter().zip(&records) {
            prop_assert_eq!((their.offset, their.timestamp), (our.offset, our.timestamp));
            prop_assert_eq!((&their.key, &their.value), (&our.key, &our.value));
        }
    }

    #[test]
    fn no_bytes_make_a_reader_panic(bytes in vec(any::<u8>(), 0..300)) {
        let bytes = Bytes::from(bytes);
        BatchScan::new(bytes.clone()).for_each(drop);
        HeaderScan::new(&bytes).for_each(drop);
        drop(validate(bytes, &ProduceRules::at(0)));
    }

    /// A good CRC over any block: walk and iterator agree on whether it holds records.
    #[test]
    fn walk_and_iterator_agree_on_any_block(codec in codec(), count in 1..5_i32, block in vec(0..30_u8, 0..60)) {
        let block = crate::records::compress(codec, None, &block).unwrap();
        let batch = RecordBatch::parse(over_block(codec, count, &block)).unwrap();
        if batch.walk(DECOMPRESSED_BYTES_MAX, |_| {}).is_ok() {
            prop_assert!(batch.records().all(|record| record.is_ok()));
        }
    }

    #[test]
    fn varints_round_trip(value in any::<i64>()) {
        let mut out = Vec::new();
        varint::put(&mut out, value);
        prop_assert_eq!(varint::get(&out), Some((value, out.len())));
        prop_assert_eq!(varint::len(value), out.len());
        prop_assert_eq!(varint::get(&out[..out.len() - 1]), None);
    }
}
