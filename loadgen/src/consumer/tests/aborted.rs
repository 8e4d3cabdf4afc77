//! What was aborted isn't counted.

use protocol::messages::fetch_response::AbortedTransaction;
use protocol::records::{BatchBuilder, BatchHeader};

use super::super::aborted::Aborted;

fn header(offset: i64, producer: i64, is_transactional: bool) -> BatchHeader {
    let mut builder = BatchBuilder::new().producer(producer, 0, 0).transactional(is_transactional);
    builder.push(0, None, Some(b"value"), &[]);
    BatchHeader { base_offset: offset, ..BatchHeader::parse(&builder.build().unwrap()).unwrap() }
}

fn marker(offset: i64, producer: i64) -> BatchHeader {
    let data = header(offset, producer, true);
    BatchHeader { attributes: data.attributes.with_control(true), ..data }
}

fn aborted(producer_id: i64, first_offset: i64) -> AbortedTransaction {
    AbortedTransaction { producer_id, first_offset, ..Default::default() }
}

#[test]
fn batches_between_a_first_offset_and_the_marker_are_aborted() {
    let mut named = Aborted::new(&[aborted(7, 12), aborted(7, 2), aborted(8, 3)]);
    let batches = [
        (header(0, 7, true), false),
        (header(2, 7, true), true),
        (header(3, 8, true), true),
        (header(4, 9, true), false),
        (header(5, 7, false), false),
        (marker(6, 7), false),
        (header(7, 7, true), false),
        (header(8, 8, true), true),
        (marker(9, 8), false),
        (marker(10, 7), false),
        (header(12, 7, true), true),
        (header(13, 8, true), false),
    ];
    for (header, is_aborted) in batches {
        assert_eq!(named.holds(&header), is_aborted, "at {}", header.base_offset);
    }
}

#[test]
fn nothing_is_without_a_name() {
    assert!(!Aborted::default().holds(&header(0, 7, true)));
}
