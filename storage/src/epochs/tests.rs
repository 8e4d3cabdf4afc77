use super::*;

fn sample() -> EpochCheckpoint {
    let mut epochs = EpochCheckpoint::default();
    for (epoch, start) in [(0, 0), (2, 10), (5, 30)] {
        assert!(epochs.assign(LeaderEpoch(epoch), Offset(start)));
    }
    epochs
}

#[test]
fn the_file_is_kafkas() {
    let epochs = sample();
    assert_eq!(epochs.to_text(), "0\n3\n0 0\n2 10\n5 30\n");
    assert_eq!(EpochCheckpoint::parse(&epochs.to_text()), Ok(epochs));
    for bad in ["", "1\n0\n", "0\nx\n", "0\n1\n5\n", "0\n0\n1 1\n", "0\n999999999\n"] {
        assert!(EpochCheckpoint::parse(bad).is_err(), "{bad:?}");
    }
}

#[test]
fn assigning_again_changes_nothing_and_contradictions_go() {
    let mut epochs = sample();
    assert!(!epochs.assign(LeaderEpoch(5), Offset(40)));
    assert!(epochs.assign(LeaderEpoch(6), Offset(30)), "epoch 5 got no record");
    assert_eq!(epochs.latest(), Some(LeaderEpoch(6)));
    assert_eq!(epochs.entries().len(), 3);
}

#[test]
fn ends_of_epochs() {
    let epochs = sample();
    let end = |epoch| epochs.end_offset_for(LeaderEpoch(epoch), Offset(50)).map(|(e, o)| (e.0, o.0));
    assert_eq!(end(5), Some((5, 50)));
    assert_eq!(end(4), Some((2, 30)));
    assert_eq!(end(2), Some((2, 30)));
    assert_eq!(end(1), Some((0, 10)));
    assert_eq!(end(6), None);
    assert_eq!(epochs.epoch_at(Offset(29)), Some(LeaderEpoch(2)));
}

#[test]
fn truncation_at_both_ends() {
    let mut epochs = sample();
    assert!(epochs.truncate_end(Offset(30)));
    assert_eq!(epochs.latest(), Some(LeaderEpoch(2)));
    assert!(epochs.truncate_start(Offset(15)));
    assert_eq!(epochs.entries(), &[(LeaderEpoch(2), Offset(15))]);
    assert_eq!(epochs.end_offset_for(LeaderEpoch(0), Offset(50)), Some((LeaderEpoch(0), Offset(15))));
}
