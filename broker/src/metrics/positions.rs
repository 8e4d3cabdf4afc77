//! How far partitions have come, and how far behind them groups are.

use std::collections::BTreeMap;

use protocol::types::Str;

use super::limits::{GROUP_TOPICS_MAX, LABEL_BYTES_MAX, OTHER_GROUPS};

/// Where a partition stands.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PartitionNumbers {
    /// Its topic.
    pub topic: String,
    /// Its number.
    pub partition: i32,
    /// The first offset that is served.
    pub start_offset: i64,
    /// Up to where consumers may read.
    pub high_watermark: i64,
}

/// An offset that a group has committed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CommittedNumbers {
    /// The group.
    pub group: Str,
    /// The topic.
    pub topic: Str,
    /// The partition's number.
    pub partition: i32,
    /// The next offset to read.
    pub offset: i64,
}

/// Records that groups have yet to read, by group and topic. An offset of a partition that nobody leads here has no lag. Pairs beyond
/// [`GROUP_TOPICS_MAX`], and groups with ids too long for a label, are summed as [`OTHER_GROUPS`].
pub(super) fn lags<'a>(
    partitions: impl Iterator<Item = &'a PartitionNumbers>,
    committed: impl Iterator<Item = &'a CommittedNumbers>,
) -> BTreeMap<(&'a str, &'a str), u64> {
    let ends: BTreeMap<(&str, i32), i64> =
        partitions.map(|one| ((one.topic.as_str(), one.partition), one.high_watermark)).collect();
    let mut lags = BTreeMap::new();
    for one in committed {
        let Some(end) = ends.get(&(&*one.topic, one.partition)) else { continue };
        let is_long = one.group.len() > LABEL_BYTES_MAX;
        let group = if is_long { OTHER_GROUPS } else { &*one.group };
        *lags.entry((group, if is_long { OTHER_GROUPS } else { &*one.topic })).or_insert(0) +=
            u64::try_from(end.saturating_sub(one.offset)).unwrap_or(0);
    }
    let mut rest = 0;
    while lags.len() > GROUP_TOPICS_MAX {
        rest += lags.pop_last().map_or(0, |(_, lag)| lag);
    }
    if rest > 0 {
        *lags.entry((OTHER_GROUPS, OTHER_GROUPS)).or_insert(0) += rest;
    }
    lags
}
