use protocol::records::Attributes;

use super::*;

fn header(base: i64, records: i32, bytes: i32, timestamp: i64) -> BatchHeader {
    BatchHeader {
        base_offset: base,
        batch_length: bytes - 12,
        partition_leader_epoch: 0,
        magic: 2,
        crc: 0,
        attributes: Attributes(0),
        last_offset_delta: records - 1,
        base_timestamp: timestamp,
        max_timestamp: timestamp,
        producer_id: -1,
        producer_epoch: -1,
        base_sequence: -1,
        records_count: records,
    }
}

#[test]
fn indexes_at_the_interval() {
    let mut segment = SegmentBuild::new(Offset(0));
    for at in 0..10 {
        segment.push(&header(at * 10, 10, 1000, 100 - at), 2500);
    }
    let positions: Vec<_> =
        segment.index.entries().iter().map(|e| (e.last_offset_delta, e.position)).collect();
    assert_eq!(positions, [(39, 3000), (69, 6000), (99, 9000)]);
    assert_eq!(segment.max_timestamp, Some((100, Offset(9))));
    assert_eq!(segment.times.entries().len(), 1, "timestamps fell");
    segment.seal();
    assert_eq!(segment.times.last(), Some((100, Offset(9))));
}

#[test]
fn is_full_by_size_time_and_index() {
    let config =
        LogConfig { segment_bytes: 5_000, segment_ms: 1_000, segment_jitter_ms: 100, ..Default::default() };
    let mut segment = SegmentBuild::new(Offset(0));
    assert!(!segment.is_full(9_999, &config), "an empty segment takes anything");
    segment.push(&header(0, 1, 4_000, 50), 4096);
    assert!(!segment.is_full(1_000, &config) && segment.is_full(1_001, &config));
    assert!(!segment.is_old(&config, 950) && segment.is_old(&config, 951));
    let config = LogConfig { segment_index_bytes: 7, ..config };
    assert!(segment.is_full(1, &config));
    assert!(segment.holds(Offset(i64::from(i32::MAX))) && !segment.holds(Offset(i64::from(i32::MAX) + 1)));
}
