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

/// Of a producer with several batches on their way, any may be sent again after a restart.
#[test]
fn keeps_all_that_is_remembered_of_each() {
    let back = decode(encode(&state())).unwrap();
    assert_eq!(back, state());
    let one = &back.entries()[&1];
    assert_eq!((one.epoch, one.last_sequence(), one.last_offset(), one.batches.len()), (2, 3, 13, 2));
    assert_eq!(back.first_open_txn(), Some(Offset(14)));
    assert_eq!(encode(&back), encode(&state()));
}

/// Kafka writes the last batch alone, and reads entries of one id one over the other.
#[test]
fn the_last_entry_of_an_id_is_the_one_kafka_writes() {
    let file = encode(&state());
    let entries: Vec<(i64, i32)> = file[HEAD_BYTES + 4..]
        .chunks(ENTRY_BYTES)
        .map(|mut entry| (entry.get_i64(), (entry.get_i16(), entry.get_i32()).1))
        .collect();
    assert_eq!(entries, [(1, 1), (1, 3), (4_000, 5)]);
    let mut alone = ProducerState::default();
    alone.restore(1, ProducerEntry::new(2));
    alone.restore(1, ProducerEntry::new(3));
    assert_eq!((alone.entries().len(), alone.entries()[&1].epoch), (1, 3), "another epoch begins anew");
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
