use super::*;

fn handed_out(loads: &Loads, count: usize) -> Vec<u16> {
    (0..count).map(|_| loads.hand_out().0).collect()
}

#[test]
fn equals_take_turns() {
    let loads = Loads::new(3);
    assert_eq!(handed_out(&loads, 6), [0, 1, 2, 0, 1, 2]);
}

/// Round robin would give every other connection to the shard whose connections stay.
#[test]
fn the_shard_with_the_fewest_gets_the_next() {
    let loads = Loads::new(2);
    handed_out(&loads, 10);
    loads.ended(ShardId(1), 5);
    assert_eq!(handed_out(&loads, 5), [1; 5]);
    assert_eq!(handed_out(&loads, 2), [0, 1]);
    loads.ended(ShardId(0), 1);
    loads.ended(ShardId(0), 1);
    assert_eq!(handed_out(&loads, 3), [0, 0, 1]);
}

#[test]
fn more_ends_than_connections_change_nothing() {
    let loads = Loads::new(2);
    handed_out(&loads, 1);
    loads.ended(ShardId(0), 7);
    assert_eq!(handed_out(&loads, 2), [1, 0]);
}
