//! Which segments become one. Pure.

use std::ops::Range;

use super::plan::Segment;
use crate::Offset;

/// A segment with the sizes of its index files, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Sized {
    pub segment: Segment,
    pub index_bytes: u64,
    pub time_index_bytes: u64,
}

/// What a segment may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Limits {
    /// `segment.bytes`.
    pub segment_bytes: u64,
    /// `segment.index.bytes`, of each index.
    pub index_bytes: u64,
}

/// Puts neighbours together as long as their sizes before compaction fit one segment, its indexes and its 31 bits of
/// relative offsets: so segments don't get smaller and smaller. Every segment is in exactly one group.
pub(crate) fn group(segments: &[Sized], limits: Limits) -> Vec<Range<usize>> {
    let mut groups = Vec::new();
    let mut first = 0;
    while first < segments.len() {
        let mut sum = segments[first];
        let mut end = first + 1;
        while let Some(next) = segments.get(end).filter(|next| fits(&sum, next, limits)) {
            sum.segment.bytes += next.segment.bytes;
            sum.index_bytes += next.index_bytes;
            sum.time_index_bytes += next.time_index_bytes;
            end += 1;
        }
        groups.push(first..end);
        first = end;
    }
    groups
}

/// How many of `segments` can be compacted in this order where the disk has `room` for a group, in bytes: compacted, a group
/// takes no more than before.
pub(crate) fn fitting(segments: &[Sized], limits: Limits, room: u64) -> usize {
    let bytes =
        |group: &Range<usize>| segments[group.clone()].iter().map(|sized| sized.segment.bytes).sum::<u64>();
    let groups = group(segments, limits);
    groups.iter().take_while(|group| bytes(group) <= room).last().map_or(0, |last| last.end)
}

fn fits(sum: &Sized, next: &Sized, limits: Limits) -> bool {
    // An empty segment has no offsets to be held.
    let last = next.segment.end.plus(-1);
    let holds = next.segment.bytes == 0 || last.since(sum.segment.base) <= i32::MAX as u64;
    holds
        && sum.segment.bytes + next.segment.bytes <= limits.segment_bytes.min(i32::MAX as u64)
        && sum.index_bytes + next.index_bytes <= limits.index_bytes
        && sum.time_index_bytes + next.time_index_bytes <= limits.index_bytes
}

/// The part of `segments` that a pass up to `mapped` rewrites: those with an offset up to it.
pub(crate) fn rewritten(segments: &[Segment], mapped: Offset) -> &[Segment] {
    &segments[..segments.partition_point(|segment| segment.base < mapped)]
}

#[cfg(test)]
mod tests;
