//! Batches as Kafka 4.4's own Java classes write them: `golden/java_batches.txt`, a name and the bytes in hex
//! a line.

use bytes::Bytes;

use super::{NOW_MS, all_records, built, three};
use crate::records::{
    BatchBuilder, Compression, ControlRecord, DECOMPRESSED_BYTES_MAX, EndTxnMarker, RecordBatch,
};

const GOLDEN: &str = include_str!("golden/java_batches.txt");

fn golden(name: &str) -> Bytes {
    let line = GOLDEN.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')).unwrap();
    let digits = line.trim().as_bytes().as_chunks::<2>().0;
    digits.iter().map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap()).collect()
}

#[test]
fn java_batches_read_the_same_in_every_codec() {
    for codec in Compression::ALL {
        let java = RecordBatch::parse(golden(codec.name())).unwrap();
        let ours = built(three(codec));
        assert_eq!(java.header().attributes, ours.header().attributes, "{codec}");
        assert_eq!(all_records(&java), all_records(&ours), "{codec}");
        let walked = java.walk(DECOMPRESSED_BYTES_MAX, |_| {}).unwrap();
        assert_eq!((walked.max_timestamp, walked.max_timestamp_offset_delta), (NOW_MS + 5, 1), "{codec}");
    }
}

#[test]
fn uncompressed_batches_have_the_very_bytes_of_java() {
    assert_eq!(three(Compression::None).build().unwrap(), golden("none"));
}

#[test]
fn commit_markers_have_the_very_bytes_of_java() {
    let marker = BatchBuilder::end_txn_marker(11, 2, true, 6, NOW_MS).base_offset(9).leader_epoch(4);
    assert_eq!(marker.build().unwrap(), golden("commit"));
    let batch = RecordBatch::parse(golden("commit")).unwrap();
    assert!(batch.header().attributes.is_control() && batch.header().attributes.is_transactional());
    let record = &all_records(&batch)[0];
    assert_eq!(ControlRecord::of(record), Ok(ControlRecord::Commit));
    assert_eq!(EndTxnMarker::parse(record.value.as_ref()), Ok(EndTxnMarker { coordinator_epoch: 6 }));
}
