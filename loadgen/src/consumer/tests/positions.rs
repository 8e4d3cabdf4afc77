//! Where a consumer stands.

use bytes::Bytes;
use protocol::records::BatchBuilder;

use super::super::Positions;

fn batch(base: i64, records: i64) -> Vec<u8> {
    let mut batch = BatchBuilder::new().base_offset(base);
    (0..records).for_each(|_| batch.push(0, None, Some(b"v"), &[]));
    batch.build().unwrap().to_vec()
}

#[test]
fn it_moves_behind_whole_batches_and_knows_its_lag_and_end() {
    let mut positions = Positions::default();
    positions.add(4, 10, Some(20));
    positions.add(5, 0, Some(0));
    assert_eq!(positions.unread().collect::<Vec<_>>(), [(4, 10)]);
    // One batch whose front was read before, a whole one, and a piece.
    let bytes = [batch(8, 4), batch(12, 3), batch(15, 5)[..80].to_vec()].concat();
    assert!(positions.answered(4, 25, &Bytes::from(bytes)));
    assert_eq!((positions.offset(4), positions.lag(), positions.is_finished()), (Some(15), 10, false));
    assert!(positions.answered(4, 25, &Bytes::from(batch(15, 5))));
    assert_eq!((positions.offset(4), positions.lag(), positions.is_finished()), (Some(20), 5, true));
    assert!(positions.answered(4, 20, &Bytes::new()));
    assert_eq!(positions.lag(), 0);
}

#[test]
fn bytes_that_are_no_batches_move_nothing() {
    let mut positions = Positions::default();
    positions.add(1, 3, None);
    assert!(!positions.answered(1, 9, &Bytes::from(vec![0; 100])));
    assert_eq!(positions.offset(1), Some(3));
    positions.seek(1, 7);
    assert_eq!(positions.offset(1), Some(7));
}
