//! Which partitions should go to which core: a decision on figures alone.

/// The busiest core's load, as a multiple of the average, above which moves are proposed.
pub(super) const SKEW_MAX: f64 = 1.25;
/// The multiple at which they are enough. Well below [`SKEW_MAX`], so that loads that waver don't bring on the next moves.
const SKEW_GOOD: f64 = 1.1;
/// What the busiest core carries at least, in bytes a second: below, a skew costs nobody anything.
pub(super) const BUSY_BYTES_PER_S: f64 = 100_000.0;
/// What a move must take off the busier of its two cores, as a share of the average load.
const GAIN_MIN: f64 = 0.05;

/// What a partition carries, and where.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Load {
    pub(super) core: usize,
    /// In and out together.
    pub(super) bytes_per_s: f64,
    /// Whether it may go elsewhere; what it carries counts in any case.
    pub(super) can_move: bool,
}

/// A proposed move.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Move {
    /// Which of the loads.
    pub(super) load: usize,
    pub(super) from: usize,
    pub(super) to: usize,
}

/// Moves in the order in which they are to be made, and each core's bytes a second before and after them.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Plan {
    pub(super) moves: Vec<Move>,
    pub(super) current: Vec<f64>,
    pub(super) expected: Vec<f64>,
}

/// Takes from the busiest core to the idlest what evens the two most, until all are about even or nothing gains enough. No moves if the skew
/// is small. The same loads give the same plan, and no partition moves twice. Loads of cores that aren't there don't count.
pub(super) fn plan(cores: usize, loads: &[Load]) -> Plan {
    let mut sums = vec![0.0; cores];
    for load in loads {
        if let Some(sum) = sums.get_mut(load.core) {
            *sum += load.bytes_per_s;
        }
    }
    let mut plan = Plan { moves: Vec::new(), current: sums.clone(), expected: sums };
    if skew(&plan.current) <= SKEW_MAX || plan.current.iter().all(|sum| *sum < BUSY_BYTES_PER_S) {
        return plan;
    }
    let mut at: Vec<usize> = loads.iter().map(|load| load.core).collect();
    let mut movable: Vec<usize> = (0..loads.len()).filter(|load| loads[*load].can_move).collect();
    while skew(&plan.expected) > SKEW_GOOD
        && let Some(next) = next_move(loads, &at, &movable, &plan.expected)
    {
        plan.expected[next.from] -= loads[next.load].bytes_per_s;
        plan.expected[next.to] += loads[next.load].bytes_per_s;
        at[next.load] = next.to;
        movable.retain(|load| *load != next.load);
        plan.moves.push(next);
    }
    plan
}

/// The busiest core's load as a multiple of the average; 1 if there is none.
pub(super) fn skew(sums: &[f64]) -> f64 {
    let average = average(sums);
    if average > 0.0 { sums.iter().copied().fold(0.0, f64::max) / average } else { 1.0 }
}

fn average(sums: &[f64]) -> f64 {
    sums.iter().sum::<f64>() / sums.len().max(1) as f64
}

fn next_move(loads: &[Load], at: &[usize], movable: &[usize], sums: &[f64]) -> Option<Move> {
    let by_load = |a: &usize, b: &usize| sums[*a].total_cmp(&sums[*b]).then(b.cmp(a));
    let from = (0..sums.len()).max_by(by_load)?;
    let to = (0..sums.len()).min_by(|a, b| sums[*a].total_cmp(&sums[*b]))?;
    // What the busier of the two carries afterwards.
    let after = |load: &usize| {
        let bytes_per_s = loads[*load].bytes_per_s;
        (sums[from] - bytes_per_s).max(sums[to] + bytes_per_s)
    };
    let there = movable.iter().copied().filter(|load| at[*load] == from);
    let best = there.min_by(|a, b| after(a).total_cmp(&after(b)))?;
    let gains = sums[from] - after(&best) >= GAIN_MIN * average(sums);
    gains.then_some(Move { load: best, from, to })
}

#[cfg(test)]
mod tests;
