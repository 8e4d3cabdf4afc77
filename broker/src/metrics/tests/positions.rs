//! Lags, and how many partitions and groups are told of.

use super::sample::{committed, partition, shard, text_of};
use crate::metrics::limits::{GROUP_TOPICS_MAX, LABEL_BYTES_MAX, OTHER_GROUPS, PARTITIONS_MAX};
use crate::metrics::positions::lags;
use crate::metrics::{CommittedNumbers, PartitionNumbers};

fn lags_of(partitions: &[PartitionNumbers], committed: &[CommittedNumbers]) -> Vec<(String, String, u64)> {
    let lags = lags(partitions.iter(), committed.iter());
    lags.into_iter().map(|((group, topic), lag)| (group.into(), topic.into(), lag)).collect()
}

fn row(group: &str, topic: &str, lag: u64) -> (String, String, u64) {
    (group.into(), topic.into(), lag)
}

#[test]
fn a_lag_is_what_lies_behind_the_commit_of_every_partition() {
    let partitions = [partition("a", 0, 0, 10), partition("a", 1, 5, 7), partition("b", 0, 0, 4)];
    let committed = [
        committed("g", "a", 0, 4),
        committed("g", "a", 1, 7),
        committed("g", "b", 0, 1),
        committed("h", "a", 0, 10),
        // It was committed after the partition was looked at, or by hand.
        committed("h", "b", 0, 9),
        // Nobody leads these here.
        committed("h", "a", 2, 0),
        committed("i", "gone", 0, 0),
    ];
    let wanted = [row("g", "a", 6), row("g", "b", 3), row("h", "a", 0), row("h", "b", 0)];
    assert_eq!(lags_of(&partitions, &committed), wanted);
}

#[test]
fn groups_beyond_the_limit_are_summed() {
    let partitions = [partition("t", 0, 0, 10)];
    let many: Vec<_> = (0..GROUP_TOPICS_MAX + 3).map(|n| committed(&format!("g{n:05}"), "t", 0, 8)).collect();
    let told = lags_of(&partitions, &many);
    assert_eq!(told.len(), GROUP_TOPICS_MAX + 1);
    assert!(told.contains(&row(OTHER_GROUPS, OTHER_GROUPS, 6)));
    assert_eq!(told.iter().map(|(.., lag)| lag).sum::<u64>(), 2 * many.len() as u64, "none is lost");
}

#[test]
fn an_id_too_long_for_a_label_is_summed() {
    let partitions = [partition("t", 0, 0, 10)];
    let (fits, long) = ("x".repeat(LABEL_BYTES_MAX), "x".repeat(LABEL_BYTES_MAX + 1));
    let told = lags_of(&partitions, &[committed(&fits, "t", 0, 9), committed(&long, "t", 0, 3)]);
    assert_eq!(told, [row(OTHER_GROUPS, OTHER_GROUPS, 7), row(&fits, "t", 1)]);
}

#[test]
fn partitions_beyond_the_limit_have_no_series() {
    let mut full = shard();
    full.partitions = (0..PARTITIONS_MAX as i32 + 5).rev().map(|n| partition("t", n, 0, 1)).collect();
    let text = text_of(&[Some(Box::new(full))]);
    let told = text.lines().filter(|line| line.starts_with("ringlog_partition_high_watermark{")).count();
    assert_eq!(told, PARTITIONS_MAX);
    assert!(text.contains("{topic=\"t\",partition=\"0\"} 1\n"), "the first ones by name stay");
}
