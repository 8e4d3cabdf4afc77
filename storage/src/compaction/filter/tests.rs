use bytes::Bytes;
use protocol::records::{BatchBuilder, BatchHeader, Compression, RecordBatch};

use super::{Filter, Outcome, Rules};
use crate::Offset;
use crate::compaction::key_map::KeyMap;
use crate::producer::{BatchRange, ProducerEntry};

const NOW_MS: i64 = 1_700_000_000_000;
const RETENTION_MS: u64 = 1_000;

/// Keys with their last offsets; 100 offsets are mapped.
fn map(keys: &[(&str, i64)]) -> KeyMap {
    let mut map = KeyMap::new(1 << 16, 0.9, 100, [7; 16]);
    for (key, offset) in keys {
        map.put(key.as_bytes(), Offset(*offset)).unwrap();
    }
    map
}

fn rules(map: &KeyMap) -> Rules<'_> {
    Rules { map, mapped: Offset(100), now_ms: NOW_MS, delete_retention_ms: RETENTION_MS }
}

/// A batch at offset 10; a record is a key and a value, of which none is null.
fn batch(records: &[(Option<&str>, Option<&str>)]) -> BatchBuilder {
    let mut batch = BatchBuilder::new().base_offset(10).compression(Compression::Lz4);
    for (at, (key, value)) in (0..).zip(records) {
        batch.push(NOW_MS - 50 + at, key.map(str::as_bytes), value.map(str::as_bytes), &[]);
    }
    batch
}

fn built(batch: BatchBuilder) -> RecordBatch {
    RecordBatch::parse(batch.build().unwrap()).unwrap()
}

/// What becomes of a batch: `None` if it goes, itself if it stays whole.
fn filtered(
    rules: &Rules<'_>,
    batch: &RecordBatch,
    producer: Option<&ProducerEntry>,
    discardable: bool,
) -> (usize, Option<RecordBatch>) {
    thinned(batch, Filter::new(rules, *batch.header(), producer, discardable, false))
}

fn thinned(batch: &RecordBatch, mut filter: Filter<'_>) -> (usize, Option<RecordBatch>) {
    if filter.wants_records() {
        batch.records().for_each(|record| filter.look(&record.unwrap()));
    }
    let (gone, outcome) = filter.finish();
    let parse = |bytes: Bytes| Some(RecordBatch::parse(bytes).unwrap());
    let becomes = match outcome {
        Outcome::Whole => Some(batch.clone()),
        Outcome::Nothing => None,
        Outcome::Empty(bytes) => parse(bytes),
        Outcome::Rewritten(mut rewrite) => {
            batch.records().for_each(|record| rewrite.take(&record.unwrap()));
            parse(rewrite.into_builder().build().unwrap())
        }
    };
    (gone, becomes)
}

fn offsets(batch: &RecordBatch) -> Vec<i64> {
    batch.records().map(|record| record.unwrap().offset).collect()
}

fn entry(last: Option<Offset>, epoch: i16) -> ProducerEntry {
    let mut entry = ProducerEntry::new(epoch);
    entry.batches.extend(last.map(|last_offset| BatchRange {
        last_sequence: 2,
        last_offset,
        offset_delta: 2,
        timestamp_ms: NOW_MS,
    }));
    entry
}

fn horizon(header: &BatchHeader) -> Option<i64> {
    header.delete_horizon_ms()
}

#[test]
fn of_each_key_the_last_record_stays() {
    let map = map(&[("a", 12), ("b", 50)]);
    let batch = built(batch(&[(Some("a"), Some("1")), (Some("b"), Some("2")), (Some("a"), Some("3"))]));
    let (gone, thin) = filtered(&rules(&map), &batch, None, false);
    let thin = thin.unwrap();
    assert_eq!((gone, offsets(&thin)), (2, vec![12]));
    assert_eq!((thin.header().base_offset, thin.header().last_offset()), (10, 12));
    assert_eq!(thin.header().attributes, batch.header().attributes);
}

#[test]
fn a_batch_of_which_all_stays_is_the_same_and_one_of_which_nothing_stays_goes() {
    let batch = built(batch(&[(Some("x"), Some("1")), (Some("y"), Some("2"))]));
    assert_eq!(filtered(&rules(&map(&[("x", 10)])), &batch, None, false), (0, Some(batch.clone())));
    assert_eq!(filtered(&rules(&map(&[("x", 11), ("y", 50)])), &batch, None, false), (2, None));
}

#[test]
fn records_without_a_key_go() {
    let batch = built(batch(&[(None, Some("1")), (Some(""), Some("2")), (None, None)]));
    let (gone, thin) = filtered(&rules(&map(&[])), &batch, None, false);
    assert_eq!((gone, offsets(&thin.unwrap())), (2, vec![11]));
}

#[test]
fn what_the_map_tells_nothing_of_stays() {
    let map = map(&[("a", 10)]);
    let rules = Rules { mapped: Offset(11), ..rules(&map) };
    let batch = built(batch(&[(Some("a"), Some("1")), (Some("a"), Some("2")), (None, Some("3"))]));
    assert_eq!(filtered(&rules, &batch, None, false), (0, Some(batch.clone())));
    assert!(!rules.is_beyond(batch.header()));
    assert!(Rules { mapped: Offset(10), ..rules }.is_beyond(batch.header()));
}

#[test]
fn a_tombstone_gets_a_horizon_and_goes_behind_it() {
    let map = map(&[("a", 10)]);
    let first = built(batch(&[(Some("a"), None), (Some("b"), Some("2"))]));
    let (gone, marked) = filtered(&rules(&map), &first, None, false);
    let marked = marked.unwrap();
    assert_eq!((gone, horizon(marked.header())), (0, Some(NOW_MS + RETENTION_MS as i64)));
    let same: Vec<_> = marked.records().collect();
    assert_eq!(same, first.records().collect::<Vec<_>>(), "the records are the same, timestamps too");
    let at = |now_ms| Rules { now_ms, ..rules(&map) };
    let before = at(NOW_MS + RETENTION_MS as i64 - 1);
    assert_eq!(filtered(&before, &marked, None, false), (0, Some(marked.clone())), "still the same horizon");
    let (gone, after) = filtered(&at(NOW_MS + RETENTION_MS as i64), &marked, None, false);
    assert_eq!((gone, offsets(&after.unwrap())), (1, vec![11]));
    // One that is superseded sets no horizon.
    let map = map_of_superseded();
    assert_eq!(horizon(filtered(&rules(&map), &first, None, false).1.unwrap().header()), None);
}

fn map_of_superseded() -> KeyMap {
    map(&[("a", 40)])
}

#[test]
fn a_retention_without_end_is_no_overflow() {
    let map = map(&[]);
    let rules = Rules { delete_retention_ms: u64::MAX, ..rules(&map) };
    let (_, marked) = filtered(&rules, &built(batch(&[(Some("a"), None)])), None, false);
    assert_eq!(horizon(marked.unwrap().header()), Some(i64::MAX));
}

#[test]
fn the_last_batch_of_a_producer_and_of_a_group_stay_empty() {
    let map = map(&[("a", 90)]);
    let batch = built(batch(&[(Some("a"), Some("1")), (Some("a"), Some("2"))]).producer(5, 1, 7));
    let producer = entry(Some(Offset(11)), 1);
    let (gone, empty) = filtered(&rules(&map), &batch, Some(&producer), false);
    let empty = empty.unwrap();
    assert_eq!((gone, empty.header().records_count, empty.header().last_offset()), (2, 0, 11));
    assert_eq!(empty.header().last_sequence(), 8);
    assert_eq!(filtered(&rules(&map), &batch, Some(&entry(Some(Offset(60)), 1)), false), (2, None));
    let rules = rules(&map);
    let last = Filter::new(&rules, *batch.header(), None, false, true);
    assert_eq!(thinned(&batch, last).1.unwrap().header().records_count, 0);
    // Empty already: it stays while it is needed, and goes then.
    assert_eq!(filtered(&rules, &empty, Some(&producer), false), (0, Some(empty.clone())));
    assert_eq!(filtered(&rules, &empty, None, false), (0, None));
}

#[test]
fn aborted_records_go_at_once() {
    let map = map(&[]);
    let batch = built(batch(&[(Some("a"), Some("1"))]).producer(5, 1, 7).transactional(true));
    assert_eq!(filtered(&rules(&map), &batch, None, true), (1, None));
    assert_eq!(filtered(&rules(&map), &batch, None, false).1, Some(batch.clone()), "committed ones don't");
    let (_, empty) = filtered(&rules(&map), &batch, Some(&entry(Some(Offset(10)), 1)), true);
    assert_eq!(empty.unwrap().header().records_count, 0, "but the last sequence does stay");
}

fn aborts() -> RecordBatch {
    built(BatchBuilder::end_txn_marker(5, 1, false, 0, NOW_MS - 5).base_offset(10))
}

#[test]
fn a_marker_goes_behind_the_horizon_once_its_transaction_is_gone() {
    let map = map(&[]);
    let marker = aborts();
    assert_eq!(filtered(&rules(&map), &marker, None, false), (0, Some(marker.clone())), "there is data left");
    let (gone, marked) = filtered(&rules(&map), &marker, None, true);
    let marked = marked.unwrap();
    assert_eq!((gone, horizon(marked.header())), (0, Some(NOW_MS + RETENTION_MS as i64)));
    assert!(marked.header().attributes.is_control());
    assert_eq!(filtered(&rules(&map), &marked, None, true).1, Some(marked.clone()));
    let later = Rules { now_ms: NOW_MS + RETENTION_MS as i64, ..rules(&map) };
    assert_eq!(filtered(&later, &marked, None, true), (1, None));
    // The marker is all that tells the producer's epoch.
    let (_, empty) = filtered(&later, &marked, Some(&entry(None, 1)), true);
    let empty = empty.unwrap();
    assert!(empty.header().attributes.is_control() && empty.header().records_count == 0);
    assert_eq!(filtered(&later, &marked, Some(&entry(None, 2)), true), (1, None), "of an older epoch");
}
