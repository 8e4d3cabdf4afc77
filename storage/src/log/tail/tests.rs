use super::*;

fn batch(base: i64, records: i64, segment: i64, position: u64, bytes: usize) -> TailBatch<()> {
    TailBatch {
        base: Offset(base),
        last: Offset(base + records - 1),
        segment: Offset(segment),
        position: FilePos(position),
        head: Bytes::from(vec![1; 10]),
        body: Bytes::from(vec![base as u8; bytes - 10]),
        permit: Some(()),
    }
}

fn tail() -> Tail<()> {
    let mut tail = Tail::default();
    for batch in [batch(0, 10, 0, 0, 3000), batch(10, 1, 0, 3000, 3000), batch(11, 5, 0, 6000, 3000)] {
        tail.push(batch);
    }
    tail
}

#[test]
fn copies_across_batches_from_any_position() {
    let tail = tail();
    let mut target = [9; 7000];
    assert_eq!(tail.copy_range(Offset(0), FilePos(2995), &mut target), 6005);
    assert_eq!(&target[..6], &[0, 0, 0, 0, 0, 1]);
    assert_eq!(&target[5..15], &[1; 10]);
    assert_eq!((target[15], target[3004], target[3005], target[3015]), (10, 10, 1, 11));
    assert_eq!(tail.copy_range(Offset(99), FilePos(0), &mut target), 0);
}

#[test]
fn placed_batches_go_but_those_of_the_last_block() {
    let mut tail = tail();
    assert_eq!(tail.evict_one(Offset(0)), None, "nothing is placed");
    assert_eq!(tail.mark_placed(Offset(0), FilePos(6000)), Some(Offset(11)));
    assert_eq!(tail.unplaced_bytes(), 3000);
    assert_eq!(tail.evict_one(Offset(0)), Some(3000 + TAIL_BATCH_OVERHEAD_BYTES));
    assert_eq!(tail.evict_one(Offset(0)), None, "ends behind 4096");
    assert_eq!(tail.evict_one(Offset(16)), Some(3000 + TAIL_BATCH_OVERHEAD_BYTES), "of a closed segment");
    assert_eq!(tail.evict_one(Offset(16)), None);
}

#[test]
fn reads_whole_batches_within_bounds() {
    let tail = tail();
    assert_eq!(tail.read(Offset(3), Offset(16), 6000, true).map(|slice| slice.bytes), Some(6000));
    assert_eq!(tail.read(Offset(3), Offset(10), 6000, true).map(|slice| slice.bytes), Some(3000));
    assert_eq!(tail.read(Offset(10), Offset(16), 10, true).map(|slice| slice.bytes), Some(3000));
    assert_eq!(tail.read(Offset(10), Offset(16), 10, false).map(|slice| slice.bytes), Some(0));
    assert_eq!(tail.read(Offset(16), Offset(16), 10, true).map(|slice| slice.bytes), Some(0));
    assert_eq!(tail.readable_bytes(Offset(10), Offset(16), 1 << 20), Some(6000));
    let mut late = Tail::default();
    late.push(batch(10, 1, 0, 0, 100));
    assert_eq!(late.read(Offset(3), Offset(11), 10, true), None);
}

#[test]
fn small_batches_are_joined() {
    let mut tail: Tail<()> = Tail::default();
    for at in 0..5 {
        tail.push(TailBatch { head: Bytes::new(), ..batch(at, 1, 0, at as u64 * 90, 100) });
    }
    tail.push(batch(5, 1, 0, 450, 100));
    let slice = tail.read(Offset(0), Offset(6), 1 << 20, true).unwrap();
    assert_eq!((slice.bufs.len(), slice.bytes), (3, 550), "five in one, then head and body");
}

#[test]
fn truncation_keeps_the_counts() {
    let mut tail = tail();
    tail.mark_placed(Offset(0), FilePos(9000));
    tail.truncate(Offset(12));
    assert_eq!((tail.held_bytes(), tail.unplaced_bytes()), (6000 + 2 * TAIL_BATCH_OVERHEAD_BYTES, 0));
    tail.truncate(Offset(0));
    assert_eq!(tail.held_bytes(), 0);
}
