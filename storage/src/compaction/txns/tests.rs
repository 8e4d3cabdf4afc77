use protocol::records::{BatchBuilder, BatchHeader, ControlRecord, RecordBatch};

use super::{Met, Survey, Transactions};
use crate::Offset;

fn data(offset: i64, producer: i64) -> BatchHeader {
    let mut batch = BatchBuilder::new().base_offset(offset).producer(producer, 0, 0).transactional(true);
    batch.push(1, Some(b"k"), None, &[]);
    *RecordBatch::parse(batch.build().unwrap()).unwrap().header()
}

fn marker(offset: i64, producer: i64) -> BatchHeader {
    let batch = BatchBuilder::end_txn_marker(producer, 0, true, 0, 1).base_offset(offset);
    *RecordBatch::parse(batch.build().unwrap()).unwrap().header()
}

const ABORT: Option<ControlRecord> = Some(ControlRecord::Abort);
const COMMIT: Option<ControlRecord> = Some(ControlRecord::Commit);

/// Shows batches until the survey has enough; gives what it found, and how many it looked at.
fn surveyed(
    upto: i64,
    aborted_max: usize,
    shown: &[(BatchHeader, Option<ControlRecord>)],
) -> (Transactions, usize) {
    let mut survey = Survey::new(Offset(0), Offset(upto), aborted_max);
    let looked = shown.iter().take_while(|(header, kind)| survey.show(header, *kind)).count();
    (survey.finish(), looked)
}

#[test]
fn data_is_aborted_if_the_next_marker_of_its_producer_says_so() {
    let (found, looked) = surveyed(
        50,
        9,
        &[
            (data(0, 1), None),
            (data(1, 2), None),
            (data(2, 1), None),
            (marker(3, 1), ABORT),
            (data(4, 1), None),
            (marker(5, 2), ABORT),
            (marker(6, 1), COMMIT),
            (marker(7, 3), ABORT),
        ],
    );
    assert_eq!(looked, 8);
    let aborted: Vec<i64> = [data(0, 1), data(1, 2), data(2, 1), data(4, 1), data(8, 2), data(9, 9)]
        .iter()
        .filter(|header| found.is_aborted(header))
        .map(|header| header.base_offset)
        .collect();
    assert_eq!(aborted, [0, 1, 2]);
    let mut plain = data(0, 1);
    plain.attributes = plain.attributes.with_transactional(false);
    assert!(!found.is_aborted(&plain), "it isn't of the transaction");
}

#[test]
fn it_reads_on_to_the_markers_of_what_has_begun_and_no_further() {
    let shown = [(data(0, 1), None), (data(10, 2), None), (marker(11, 1), ABORT), (data(12, 3), None)];
    let (found, looked) = surveyed(10, 9, &shown);
    assert_eq!((looked, found.upto), (3, Offset(10)));
    assert!(found.is_aborted(&data(0, 1)));
}

#[test]
fn what_has_no_marker_bounds_what_is_known() {
    let (found, _) = surveyed(50, 9, &[(data(3, 1), None), (data(5, 2), None), (marker(6, 2), ABORT)]);
    assert_eq!(found.upto, Offset(3));
    assert!(found.knows(&data(2, 1)) && !found.knows(&data(3, 1)) && !found.knows(&data(5, 2)));
}

#[test]
fn too_many_aborted_ones_bound_what_is_known() {
    let shown = [
        (data(0, 1), None),
        (marker(1, 1), ABORT),
        (data(2, 2), None),
        (data(3, 1), None),
        (marker(4, 1), ABORT),
        (data(5, 1), None),
        (marker(6, 1), ABORT),
    ];
    let (found, looked) = surveyed(50, 2, &shown);
    assert_eq!((looked, found.upto), (5, Offset(2)), "of the transaction at 2 nothing is known");
    let (found, _) = surveyed(50, 1, &shown);
    assert_eq!(found.upto, Offset(2));
}

#[test]
fn a_marker_marks_nothing_if_no_data_of_its_transaction_was_met() {
    let mut met = Met::default();
    met.data(&data(0, 1));
    assert!(!met.marks_nothing(&marker(1, 1), ABORT));
    assert!(met.marks_nothing(&marker(2, 1), ABORT), "the next transaction had no data");
    assert!(met.marks_nothing(&marker(3, 1), COMMIT));
    assert!(met.marks_nothing(&marker(4, 2), None), "emptied before");
    assert!(!met.marks_nothing(&marker(5, 2), Some(ControlRecord::LeaderChange)));
    let mut plain = data(6, 2);
    plain.attributes = plain.attributes.with_transactional(false);
    met.data(&plain);
    assert!(met.marks_nothing(&marker(7, 2), COMMIT), "that record was of no transaction");
}
