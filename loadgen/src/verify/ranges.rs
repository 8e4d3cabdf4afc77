//! Sets of sequences.

/// A set of numbers that mostly come in order: kept as ranges, so that a whole run takes one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Ranges {
    /// `start..end`, rising, none touching the next.
    ranges: Vec<(u64, u64)>,
}

impl Ranges {
    /// Adds `start..end`. O(1) at the end of the set, else a binary search and a move.
    pub(crate) fn insert(&mut self, start: u64, end: u64) {
        if start >= end {
            return;
        }
        match self.ranges.last_mut() {
            Some(last) if last.1 == start => return last.1 = end,
            Some(last) if last.1 > start => {}
            _ => return self.ranges.push((start, end)),
        }
        // All that overlap or touch become one.
        let from = self.ranges.partition_point(|range| range.1 < start);
        let to = self.ranges.partition_point(|range| range.0 <= end);
        let touched = &self.ranges[from..to];
        let start = touched.first().map_or(start, |range| range.0.min(start));
        let end = touched.last().map_or(end, |range| range.1.max(end));
        self.ranges.splice(from..to, [(start, end)]);
    }

    pub(crate) fn contains(&self, number: u64) -> bool {
        let at = self.ranges.partition_point(|range| range.1 <= number);
        self.ranges.get(at).is_some_and(|range| range.0 <= number)
    }

    /// How many numbers.
    pub(crate) fn len(&self) -> u64 {
        self.ranges.iter().map(|(start, end)| end - start).sum()
    }

    /// How many ranges.
    pub(crate) fn pieces(&self) -> usize {
        self.ranges.len()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.ranges.iter().copied()
    }

    /// How many numbers of this set are missing in `other`, and the first of them.
    pub(crate) fn missing_in(&self, other: &Self) -> (u64, Option<u64>) {
        let (mut missing, mut first) = (0, None);
        for (start, end) in self.iter() {
            let mut at = start;
            let from = other.ranges.partition_point(|range| range.1 <= start);
            for (there, there_end) in other.ranges[from..].iter().take_while(|range| range.0 < end) {
                if *there > at {
                    missing += there - at;
                    first = first.or(Some(at));
                }
                at = at.max(*there_end);
            }
            if at < end {
                missing += end - at;
                first = first.or(Some(at));
            }
        }
        (missing, first)
    }
}
