use super::*;
use crate::producer::ProducerBatch;

fn state() -> ProducerState {
    let mut state = ProducerState::default();
    for (id, offset) in [(1, 10), (1, 12), (4_000, 14)] {
        state.record(&ProducerBatch {
            producer_id: id,
            epoch: 2,
            first_sequence: (offset - 10) as i32,
            last_sequence: (offset - 9) as i32,
            base_offset: Offset(offset),
            last_offset: Offset(offset + 1),
            timestamp_ms: 99,
            transactional: id == 4_000,
            control: false,
        });
    }
    state
}

#[test]
fn keeps_the_last_batch_of_each() {
    let back = decode(encode(&state())).unwrap();
    assert_eq!(back.entries().len(), 2);
    let one = &back.entries()[&1];
    assert_eq!((one.epoch, one.last_sequence(), one.last_offset(), one.batches.len()), (2, 3, 13, 1));
    assert_eq!(back.first_open_txn(), Some(Offset(14)));
    assert_eq!(encode(&back), encode(&state()));
}

#[test]
fn damage_is_noticed() {
    let file = encode(&state());
    assert!(decode(file.slice(..file.len() - 1)).is_err());
    let mut flipped = file.to_vec();
    flipped[20] ^= 1;
    assert_eq!(decode(flipped.into()).unwrap_err(), "the CRC doesn't match");
    let mut newer = file.to_vec();
    newer[1] = 9;
    assert!(decode(newer.into()).unwrap_err().contains("version 9"));
    assert!(decode(Bytes::new()).is_err());
}
