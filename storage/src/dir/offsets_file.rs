//! Kafka's files of one offset per partition: recovery points, log starts, high watermarks.

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::segment::names;
use crate::{Offset, TopicPartition};

/// Up to where partitions are known to be on disk.
pub(crate) const RECOVERY_POINTS: &str = "recovery-point-offset-checkpoint";
/// Where partitions start.
pub(crate) const LOG_STARTS: &str = "log-start-offset-checkpoint";
/// Up to where partitions are replicated.
pub(crate) const HIGH_WATERMARKS: &str = "replication-offset-checkpoint";
/// Up to where partitions are compacted.
pub(crate) const CLEANED: &str = "cleaner-offset-checkpoint";

/// One offset per partition.
pub type Offsets = BTreeMap<TopicPartition, Offset>;

/// Kafka's file: the lines `0`, the number of entries, then `topic partition offset` each.
pub(crate) fn to_text(offsets: &Offsets) -> String {
    let mut text = format!("0\n{}\n", offsets.len());
    for (of, offset) in offsets {
        // Writing into a String can't fail.
        let _ = writeln!(text, "{} {} {offset}", of.topic, of.partition);
    }
    text
}

/// Reads Kafka's file.
///
/// # Errors
/// Words for what is wrong with it.
pub(crate) fn parse(text: &str) -> Result<Offsets, String> {
    let mut lines = text.lines();
    if lines.next() != Some("0") {
        return Err("the version isn't 0".into());
    }
    let count: usize = lines.next().and_then(|line| line.trim().parse().ok()).ok_or("no count of entries")?;
    let mut offsets = Offsets::new();
    for line in lines.filter(|line| !line.trim().is_empty()) {
        let entry = parse_line(line).ok_or_else(|| format!("{line:?} isn't a partition and its offset"))?;
        offsets.insert(entry.0, entry.1);
    }
    if offsets.len() != count {
        return Err(format!("{} entries instead of the {count} announced", offsets.len()));
    }
    Ok(offsets)
}

fn parse_line(line: &str) -> Option<(TopicPartition, Offset)> {
    let mut words = line.split_whitespace();
    let topic = words.next().filter(|topic| names::is_topic_name(topic))?;
    let partition = words.next()?.parse().ok()?;
    let offset = words.next()?.parse().ok()?;
    words.next().is_none().then(|| (TopicPartition::new(topic, partition), Offset(offset)))
}

#[cfg(test)]
mod tests;
