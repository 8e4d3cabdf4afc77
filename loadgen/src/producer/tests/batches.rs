//! Batches of every kind hold what they should.

use protocol::records::{Compression, RecordBatch};

use super::super::maker::{Batch, Maker, Sender};
use crate::draw::Rng;
use crate::payload::Stamp;
use crate::scenario::{Build, Codec, Keys, ProduceSpec, Sizes};

const SENDER: Sender = Sender { run: 5, index: 6, identity: Some((77, 2)), is_transactional: true };

/// A batch of `records` of slot 9 from sequence 100 on, one each ms.
fn batch(spec: &ProduceSpec, records: u32) -> Batch {
    let mut maker = Maker::new(spec, &mut Rng::new(1)).unwrap();
    let mut open = maker.open(100, 1_000_000);
    let key = (spec.keys != Keys::None).then_some(4);
    for at in 0..records {
        let len =
            spec.record_bytes.min() + at as usize % (spec.record_bytes.max() - spec.record_bytes.min() + 1);
        maker.push(&mut open, &SENDER, 9, key, len, u64::from(at + 1) * 1_000_000);
    }
    maker.seal(open, &SENDER, 9, 0).unwrap()
}

fn check(spec: &ProduceSpec, records: u32, is_stamped: impl Fn(usize) -> bool) {
    let made = batch(spec, records);
    let parsed = RecordBatch::parse(made.bytes.clone()).unwrap();
    let header = parsed.header();
    assert_eq!((header.producer_id, header.producer_epoch, header.base_sequence), (77, 2, 100));
    assert!(header.attributes.is_transactional());
    assert_eq!((header.records_count, header.last_offset_delta), (records as i32, records as i32 - 1));
    assert_eq!(header.attributes.compression().unwrap(), spec.compression.0);
    assert!((rt::unix_ms() - header.max_timestamp).abs() < 60_000);
    assert_eq!((made.records, made.end_sequence()), (records, 100 + u64::from(records)));
    let mut value_bytes = 0;
    for (at, record) in parsed.records().enumerate() {
        let value = record.unwrap().value.unwrap();
        value_bytes += value.len() as u64;
        let expected = Stamp {
            run: 5,
            producer: 6,
            slot: 9,
            sequence: 100 + at as u64,
            time_ns: (at as u64 + 1) * 1_000_000,
        };
        let found = Stamp::peek(&value).filter(|_| Stamp::is_whole(&value));
        assert_eq!(found == Some(expected), is_stamped(at), "record {at} of {spec:?}");
    }
    assert_eq!(made.value_bytes, value_bytes);
}

#[test]
fn every_record_carries_its_stamp() {
    for codec in Compression::ALL {
        for keys in [Keys::None, Keys::Uniform(9)] {
            for record_bytes in [Sizes::Fixed(100), Sizes::Between { min: 32, max: 70 }] {
                let compression = Codec(codec);
                let spec = ProduceSpec { compression, keys, record_bytes, ..ProduceSpec::default() };
                check(&spec, 30, |_| true);
                check(&spec, 1, |_| true);
            }
        }
    }
}

#[test]
fn prebuilt_batches_are_new_only_in_front() {
    let spec = ProduceSpec { build: Build::Prebuilt, ..ProduceSpec::default() };
    check(&spec, 30, |at| at == 0);
    let compressed = ProduceSpec { compression: Codec(Compression::Lz4), ..spec };
    check(&compressed, 30, |_| false);
    check(&compressed, 7, |_| false);
}

#[test]
fn values_too_short_for_a_stamp_are_filler() {
    check(&ProduceSpec { record_bytes: Sizes::Fixed(10), ..ProduceSpec::default() }, 20, |_| false);
}

#[test]
fn a_batch_is_full_at_its_size() {
    for (keys, batch_bytes) in [(Keys::None, 5000), (Keys::Uniform(3), 5000), (Keys::None, 64)] {
        let spec = ProduceSpec { keys, batch_bytes, ..ProduceSpec::default() };
        let mut maker = Maker::new(&spec, &mut Rng::new(1)).unwrap();
        let mut open = maker.open(0, 0);
        while maker.fits(&open, 100) {
            maker.push(&mut open, &SENDER, 0, (keys != Keys::None).then_some(1), 100, 0);
        }
        let made = maker.seal(open, &SENDER, 0, 0).unwrap();
        let room = batch_bytes as usize - made.bytes.len().min(batch_bytes as usize);
        assert!(room < 2 * 130, "{room} bytes of {batch_bytes} are left");
        // One record always goes, however small the batch.
        assert!(made.bytes.len() <= batch_bytes as usize || made.records == 1, "{}", made.bytes.len());
    }
}

#[test]
fn sequences_on_the_wire_wrap() {
    let mut maker = Maker::new(&ProduceSpec::default(), &mut Rng::new(1)).unwrap();
    let mut open = maker.open((1 << 31) + 5, 0);
    maker.push(&mut open, &SENDER, 0, None, 100, 0);
    let made = maker.seal(open, &SENDER, 0, 0).unwrap();
    assert_eq!(RecordBatch::parse(made.bytes).unwrap().header().base_sequence, 5);
}
