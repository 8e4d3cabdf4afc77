use super::*;

const MB: f64 = 1e6;

/// Loads of these cores, in MB/s.
fn loads(of: &[(usize, f64)]) -> Vec<Load> {
    of.iter().map(|(core, mb)| Load { core: *core, bytes_per_s: mb * MB, can_move: true }).collect()
}

/// `(load, to)` of each move.
fn moves(cores: usize, loads: &[Load]) -> Vec<(usize, usize)> {
    plan(cores, loads).moves.iter().map(|next| (next.load, next.to)).collect()
}

#[test]
fn hot_partitions_of_one_core_spread_over_the_others() {
    let plan = plan(4, &loads(&[(0, 10.0), (0, 10.0), (0, 10.0), (0, 10.0), (1, 0.0), (2, 0.0)]));
    assert_eq!(plan.current, [40.0 * MB, 0.0, 0.0, 0.0]);
    assert_eq!(plan.expected, [10.0 * MB; 4]);
    assert_eq!(plan.moves.len(), 3, "as few as can be: {:?}", plan.moves);
    assert!(plan.moves.iter().all(|next| next.from == 0));
}

#[test]
fn one_fitting_move_is_preferred_to_several_small_ones() {
    let loads = loads(&[(0, 1.0), (0, 1.0), (0, 5.0), (0, 1.0), (0, 2.0)]);
    assert_eq!(moves(2, &loads), [(2, 1)]);
}

#[test]
fn a_small_skew_moves_nothing_and_a_larger_one_does() {
    let of = |mb: f64| loads(&[(0, 3.0), (0, mb), (1, 8.0)]);
    // 1.24 and 1.27 times the average.
    assert_eq!(moves(2, &of(10.0)), []);
    assert_eq!(moves(2, &of(11.0)), [(0, 1)]);
}

#[test]
fn what_was_balanced_stays() {
    let mut loads = loads(&[(0, 9.0), (0, 7.0), (0, 4.0), (0, 3.0), (0, 1.0), (1, 2.0)]);
    let first = plan(3, &loads);
    assert!(!first.moves.is_empty());
    for next in &first.moves {
        loads[next.load].core = next.to;
    }
    let second = plan(3, &loads);
    assert_eq!((second.moves.len(), second.current), (0, first.expected));
}

#[test]
fn a_hot_partition_alone_on_its_core_stays() {
    assert_eq!(moves(2, &loads(&[(0, 50.0), (1, 1.0), (1, 1.0)])), []);
}

#[test]
fn what_must_stay_counts_and_others_make_room() {
    let mut loads = loads(&[(0, 10.0), (0, 5.0), (1, 1.0)]);
    loads[0].can_move = false;
    assert_eq!(moves(2, &loads), [(1, 1)]);
    loads[1].can_move = false;
    assert_eq!(moves(2, &loads), []);
}

#[test]
fn an_idle_node_stays_as_it_is() {
    assert_eq!(moves(2, &loads(&[(0, 0.04), (0, 0.04), (1, 0.0)])), []);
    assert_eq!(moves(2, &loads(&[(0, 0.06), (0, 0.06), (1, 0.0)])), [(0, 1)]);
    assert_eq!(moves(2, &[]), []);
    assert_eq!(moves(0, &loads(&[(0, 5.0)])), []);
}

#[test]
fn skew_is_the_busiest_by_the_average() {
    assert_eq!(skew(&[3.0, 1.0]), 1.5);
    assert_eq!((skew(&[0.0, 0.0]), skew(&[])), (1.0, 1.0));
}
