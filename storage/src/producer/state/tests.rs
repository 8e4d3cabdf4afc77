use super::*;

fn batch(epoch: i16, first_sequence: i32, base_offset: i64, records: i32) -> ProducerBatch {
    ProducerBatch {
        producer_id: 7,
        epoch,
        first_sequence,
        last_sequence: ((i64::from(first_sequence) + i64::from(records) - 1) & i64::from(i32::MAX)) as i32,
        base_offset: Offset(base_offset),
        last_offset: Offset(base_offset + i64::from(records) - 1),
        timestamp_ms: 1_000 + base_offset,
        transactional: false,
        control: false,
    }
}

fn append(state: &mut ProducerState, batch: ProducerBatch) -> Result<(), AppendError> {
    state.check(&batch)?;
    state.record(&batch);
    Ok(())
}

#[test]
fn an_unknown_producer_starts_anywhere() {
    let mut state = ProducerState::default();
    append(&mut state, batch(3, 500, 0, 10)).unwrap();
    append(&mut state, batch(3, 510, 10, 1)).unwrap();
    assert!(matches!(append(&mut state, batch(3, 512, 11, 1)), Err(AppendError::OutOfOrderSequence { .. })));
}

#[test]
fn the_last_five_batches_are_recognised() {
    let mut state = ProducerState::default();
    for at in 0..7 {
        append(&mut state, batch(0, at * 10, i64::from(at) * 10, 10)).unwrap();
    }
    for at in 2..7 {
        let Err(AppendError::Duplicate { base_offset, last_offset, .. }) =
            append(&mut state, batch(0, at * 10, 999, 10))
        else {
            panic!("batch {at} isn't recognised")
        };
        assert_eq!((base_offset.0, last_offset.0), (i64::from(at) * 10, i64::from(at) * 10 + 9));
    }
    assert!(matches!(append(&mut state, batch(0, 10, 999, 10)), Err(AppendError::OutOfOrderSequence { .. })));
    let other_range = append(&mut state, batch(0, 60, 999, 5));
    assert!(
        matches!(other_range, Err(AppendError::OutOfOrderSequence { .. })),
        "only the very same range is a duplicate"
    );
}

#[test]
fn a_new_epoch_starts_at_zero_and_fences_the_old() {
    let mut state = ProducerState::default();
    append(&mut state, batch(0, 0, 0, 10)).unwrap();
    assert!(matches!(append(&mut state, batch(1, 10, 10, 1)), Err(AppendError::OutOfOrderSequence { .. })));
    append(&mut state, batch(1, 0, 10, 1)).unwrap();
    assert_eq!(
        append(&mut state, batch(0, 10, 11, 1)),
        Err(AppendError::InvalidProducerEpoch { producer_id: 7, epoch: 0, current: 1 })
    );
    assert!(matches!(append(&mut state, batch(0, 0, 11, 10)), Err(AppendError::InvalidProducerEpoch { .. })));
}

#[test]
fn sequences_wrap() {
    let mut state = ProducerState::default();
    append(&mut state, batch(0, i32::MAX - 4, 0, 10)).unwrap();
    assert_eq!(state.entries()[&7].last_sequence(), 4);
    assert!(matches!(append(&mut state, batch(0, i32::MAX - 4, 10, 10)), Err(AppendError::Duplicate { .. })));
    append(&mut state, batch(0, 5, 10, 1)).unwrap();
    append(&mut state, batch(0, 6, 11, i32::MAX - 5)).unwrap();
    assert_eq!(state.entries()[&7].last_sequence(), i32::MAX);
    append(&mut state, batch(0, 0, 20, 1)).unwrap();
}

#[test]
fn the_idle_are_forgotten() {
    let mut state = ProducerState::default();
    append(&mut state, batch(0, 0, 0, 10)).unwrap();
    state.touch(7, 50_000);
    state.expire(60_000, 10_000);
    assert_eq!(state.entries().len(), 1);
    state.expire(60_001, 10_000);
    assert!(state.entries().is_empty());
}

#[test]
fn producers_are_bounded() {
    let mut state = ProducerState::default();
    for id in 0..PRODUCERS_MAX as i64 + 10 {
        state.record(&ProducerBatch { producer_id: id, timestamp_ms: id, ..batch(0, 0, id, 1) });
    }
    assert!(state.entries().len() <= PRODUCERS_MAX);
    assert!(!state.entries().contains_key(&0), "the longest idle goes first");
    assert!(state.entries().contains_key(&(PRODUCERS_MAX as i64 + 9)));
}

#[test]
fn open_transactions_end_with_their_marker() {
    let mut state = ProducerState::default();
    state.record(&ProducerBatch { transactional: true, ..batch(0, 0, 40, 2) });
    state.record(&ProducerBatch { transactional: true, ..batch(0, 2, 42, 2) });
    assert_eq!(state.first_open_txn(), Some(Offset(40)));
    state.record(&ProducerBatch {
        transactional: true,
        control: true,
        first_sequence: -1,
        last_sequence: -1,
        ..batch(1, 0, 44, 1)
    });
    assert_eq!(state.first_open_txn(), None);
    assert_eq!(state.entries()[&7].last_sequence(), -1, "the marker's epoch starts at sequence 0");
    append(&mut state, batch(1, 0, 45, 1)).unwrap();
}
