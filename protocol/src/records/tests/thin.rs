//! Batches with records taken out.

use super::{NOW_MS, all_records, built, three};
use crate::records::{Attributes, BatchBuilder, Compression, RecordBatch, TimestampType, emptied};

/// The batch with only the records that `keep` says.
fn thinned(batch: &RecordBatch, keep: impl Fn(i64) -> bool, horizon_ms: Option<i64>) -> RecordBatch {
    let mut thin = BatchBuilder::like(batch.header());
    if let Some(horizon_ms) = horizon_ms {
        thin = thin.delete_horizon(horizon_ms);
    }
    for record in all_records(batch).iter().filter(|record| keep(record.offset)) {
        thin.push_record(record);
    }
    built(thin)
}

#[test]
fn what_stays_of_a_batch_keeps_its_offsets_its_times_and_its_producer() {
    for codec in Compression::ALL {
        let batch = built(three(codec).base_offset(100).transactional(true));
        let thin = thinned(&batch, |offset| offset == 101, None);
        assert_eq!(all_records(&thin), all_records(&batch)[1..2], "{codec}");
        let (before, after) = (batch.header(), thin.header());
        assert_eq!((after.base_offset, after.last_offset_delta), (100, 2));
        assert_eq!((after.records_count, after.max_timestamp), (1, NOW_MS + 5));
        assert_eq!(after.attributes, before.attributes);
        assert_eq!(
            (after.producer_id, after.producer_epoch, after.base_sequence, after.last_sequence()),
            (7, 3, 42, 44)
        );
        assert_eq!(after.partition_leader_epoch, 5);
        assert_eq!(thinned(&batch, |offset| offset != 101, None).header().max_timestamp, NOW_MS + 2);
    }
}

#[test]
fn a_delete_horizon_changes_no_records_timestamp() {
    for codec in Compression::ALL {
        let batch = built(three(codec));
        for horizon_ms in [NOW_MS + 86_400_000, i64::MAX, 1] {
            let thin = thinned(&batch, |_| true, Some(horizon_ms));
            assert_eq!(thin.header().delete_horizon_ms(), Some(horizon_ms));
            assert_eq!(all_records(&thin), all_records(&batch));
            // And it stays when the batch is thinned again.
            let again = thinned(&thin, |offset| offset > 0, None);
            assert_eq!(again.header().delete_horizon_ms(), Some(horizon_ms));
            assert_eq!(all_records(&again), all_records(&batch)[1..]);
        }
    }
}

#[test]
fn the_brokers_time_stays_whatever_goes() {
    let attributes = Attributes::default().with_timestamp_type(TimestampType::LogAppendTime);
    let batch = RecordBatch::parse(super::with_header(&built(three(Compression::Lz4)), |header| {
        header.attributes = Attributes(header.attributes.0 | attributes.0);
        header.max_timestamp = NOW_MS + 70;
    }))
    .unwrap();
    let thin = thinned(&batch, |offset| offset == 0, Some(NOW_MS + 1_000));
    assert_eq!((all_records(&thin)[0].timestamp, thin.header().max_timestamp), (NOW_MS + 70, NOW_MS + 70));
}

#[test]
fn an_emptied_batch_is_a_batch_with_the_old_ones_last_offset_and_sequence() {
    for codec in Compression::ALL {
        let batch = built(three(codec).base_offset(9).delete_horizon(5).transactional(true));
        let empty = RecordBatch::parse(emptied(batch.header())).unwrap();
        let header = *empty.header();
        assert_eq!(empty.total_bytes(), 61);
        assert_eq!((header.base_offset, header.last_offset(), header.records_count), (9, 11, 0));
        assert_eq!((header.base_timestamp, header.max_timestamp), (-1, NOW_MS + 5));
        assert_eq!((header.producer_id, header.producer_epoch, header.last_sequence()), (7, 3, 44));
        assert_eq!(header.attributes, Attributes::default().with_transactional(true));
        assert_eq!(empty.records().count(), 0);
        assert!(empty.walk(100, |_| panic!("there is no record")).is_ok());
    }
}
