//! Who runs when.

/// Both sides, 0 for A and 1 for B, in a round's order: A B, B A, A B, and so on.
pub(super) fn order(round: u32) -> [usize; 2] {
    if round.is_multiple_of(2) { [0, 1] } else { [1, 0] }
}
