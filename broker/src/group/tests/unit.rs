//! The small parts: the partitioner, timers, records.

use protocol::internal::OffsetCommitValue;
use protocol::types::Uuid;

use crate::group::coordinator::Timers;
use crate::group::partition::{java_hash, partition_for_group};
use crate::group::record::Record;

#[test]
fn groups_go_where_java_puts_them() {
    assert_eq!(java_hash(""), 0);
    assert_eq!(java_hash("hello"), 99_162_322);
    // Outside the BMP Java sees two units: U+1F600 is d83d de00.
    assert_eq!(java_hash("\u{1f600}"), 0xd83d_i32 * 31 + 0xde00);
    assert_eq!(java_hash("polygenelubricants"), i32::MIN);
    assert_eq!(partition_for_group("polygenelubricants", 50), 0);
    assert_eq!(partition_for_group("hello", 50), 99_162_322 % 50);
    assert!(java_hash("billing-negative-zzzzzz") != 0);
    for text in ["a", "zzzzzzzz", "g-17", "Ünïcode"] {
        assert_eq!(partition_for_group(text, 50), (java_hash(text).wrapping_abs()) % 50);
    }
}

#[test]
fn a_timer_moved_later_costs_no_heap_entry_and_fires_once() {
    let mut timers = Timers::new();
    for deadline_ms in 10..10_000 {
        timers.arm("session", deadline_ms);
    }
    timers.arm("join", 50);
    assert_eq!(timers.len(), 2);
    assert_eq!(timers.pop_due(49), None);
    assert_eq!(timers.pop_due(50), Some("join"));
    assert_eq!(timers.pop_due(9_998), None);
    assert_eq!(timers.pop_due(9_999), Some("session"));
    assert_eq!(timers.pop_due(i64::MAX), None);
}

#[test]
fn a_timer_moved_earlier_or_stopped() {
    let mut timers = Timers::new();
    timers.arm(1, 100);
    timers.arm(1, 20);
    timers.arm(2, 30);
    timers.stop(&2);
    assert_eq!(timers.pop_due(20), Some(1));
    assert_eq!(timers.pop_due(1_000), None);
    assert!(timers.is_empty());
    // Armed again after a stop: the old heap entry must not fire it early.
    timers.arm(3, 10);
    timers.stop(&3);
    timers.arm(3, 500);
    assert_eq!(timers.pop_due(499), None);
    assert_eq!(timers.pop_due(500), Some(3));
}

#[test]
fn offset_records_are_kafkas_bytes() {
    let value = OffsetCommitValue {
        offset: 5,
        leader_epoch: 2,
        metadata: "m".into(),
        commit_timestamp: 9,
        topic_id: Uuid([0xab; 16]),
        ..Default::default()
    };
    let record = Record::offset(&"g".into(), &"t".into(), 3, &value).unwrap();
    let key = [0, 1, 0, 1, b'g', 0, 1, b't', 0, 0, 0, 3];
    assert_eq!(&record.key[..], key);
    let mut bytes = vec![0, 4];
    bytes.extend(5i64.to_be_bytes());
    bytes.extend(2i32.to_be_bytes());
    bytes.extend([2, b'm']);
    bytes.extend(9i64.to_be_bytes());
    // One tagged field: tag 0, 16 bytes.
    bytes.extend([1, 0, 16]);
    bytes.extend([0xab; 16]);
    assert_eq!(record.value.as_deref(), Some(&bytes[..]));
}
