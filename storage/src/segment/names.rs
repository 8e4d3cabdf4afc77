//! Names of a partition's files, as Kafka gives them.

use crate::{Offset, TopicPartition};

/// Suffix of record batches.
pub(crate) const LOG: &str = "log";
/// Suffix of the offset index.
pub(crate) const INDEX: &str = "index";
/// Suffix of the time index.
pub(crate) const TIME_INDEX: &str = "timeindex";
/// Suffix of the index of aborted transactions.
pub(crate) const TXN_INDEX: &str = "txnindex";
/// Suffix of the producer state.
pub(crate) const SNAPSHOT: &str = "snapshot";
/// Where each leader epoch starts.
pub(crate) const EPOCHS: &str = "leader-epoch-checkpoint";
/// The topic's id.
pub(crate) const METADATA: &str = "partition.metadata";
/// Start offset and recovery point: a file of our own, which Kafka skips.
pub(crate) const CHECKPOINT: &str = "ringlog-checkpoint";
/// Up to where the log is compacted: a file of our own, which Kafka skips.
pub(crate) const CLEANED_UPTO: &str = "ringlog-cleaned";
/// Ending of a compacted segment's files while they are written: of no use to a start.
pub(crate) const CLEANED: &str = "cleaned";
/// Ending of a compacted segment's files once they are whole: with it the segment takes the place of those it was
/// made of, now or at the next start.
pub(crate) const SWAP: &str = "swap";
/// How the names begin of what a repair moved aside: parts of segments and small files, kept for the operator. Kafka skips
/// them, and so does a start.
pub(crate) const DAMAGED_PREFIX: &str = "ringlog-damaged-";
/// End of the name of a partition directory that is being deleted.
pub(crate) const DELETE_SUFFIX: &str = "-delete";
/// End of the name of a partition directory of a topic that isn't here any more, kept for the operator.
pub(crate) const STRAY_SUFFIX: &str = "-stray";
/// End of the name of a partition directory that is being filled from another log directory's (KIP-113).
pub(crate) const FUTURE_SUFFIX: &str = "-future";
/// The next segment's file until the roll gives it its name. A crash before that leaves it for the next start
/// to remove.
pub(crate) const NEXT: &str = "ringlog-next.tmp";

/// `<20 digits>.<suffix>`.
pub(crate) fn file_name(base: Offset, suffix: &str) -> String {
    format!("{:020}.{suffix}", base.0)
}

/// The name of a segment's file that waits for its removal.
pub(crate) fn doomed_file_name(base: Offset, suffix: &str) -> String {
    format!("{}.deleted", file_name(base, suffix))
}

/// `<20 digits>.<suffix>.<ending>`.
pub(crate) fn passing_name(base: Offset, suffix: &str, ending: &str) -> String {
    format!("{}.{ending}", file_name(base, suffix))
}

/// Base offset and suffix of a segment's file name; `None` for any other name.
pub(crate) fn parse_file_name(name: &str) -> Option<(Offset, &str)> {
    let (digits, suffix) = name.split_once('.')?;
    if digits.len() != 20 || !digits.bytes().all(|digit| digit.is_ascii_digit()) {
        return None;
    }
    Some((Offset(digits.parse().ok()?), suffix))
}

/// Whether a file is left over from an operation that a crash cut short: safe to remove at start.
pub(crate) fn is_leftover(name: &str) -> bool {
    [".tmp", ".deleted", ".cleaned"].iter().any(|suffix| name.ends_with(suffix))
}

/// `<topic>-<partition>`.
pub(crate) fn dir_name(partition: &TopicPartition) -> String {
    partition.to_string()
}

/// The partition a directory holds; `None` for a name of another kind (also those of Kafka's `-delete`,
/// `-future` and `-stray`).
pub(crate) fn parse_dir_name(name: &str) -> Option<TopicPartition> {
    let (topic, number) = name.rsplit_once('-')?;
    let digits = !number.is_empty() && number.bytes().all(|digit| digit.is_ascii_digit());
    // A leading zero would give two directories one name.
    if !digits || (number.len() > 1 && number.starts_with('0')) || !is_topic_name(topic) {
        return None;
    }
    Some(TopicPartition::new(topic, number.parse().ok()?))
}

/// Whether `topic` may be a directory's name: Kafka's rule for topic names.
pub(crate) fn is_topic_name(topic: &str) -> bool {
    let legal = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
    (1..=249).contains(&topic.len()) && topic != "." && topic != ".." && topic.bytes().all(legal)
}

/// The name under which a partition's directory waits for its removal, or for the operator: `<topic>-<n>.<32
/// hex digits><ending>`, cut to 255 bytes as Kafka does.
pub(crate) fn put_away_dir_name(partition: &TopicPartition, unique: [u8; 16], ending: &str) -> String {
    let hex: String = unique.iter().map(|byte| format!("{byte:02x}")).collect();
    let suffix = format!("-{}.{hex}{ending}", partition.partition);
    let topic = &partition.topic[..partition.topic.len().min(255 - suffix.len())];
    format!("{topic}{suffix}")
}

/// Whether a directory waits for its removal.
pub(crate) fn is_deleted_dir(name: &str) -> bool {
    name.strip_suffix(DELETE_SUFFIX).and_then(without_unique).is_some()
}

/// The partition whose directory waits for its removal, its topic's name cut as by [`put_away_dir_name`].
pub(crate) fn parse_deleted_dir_name(name: &str) -> Option<TopicPartition> {
    name.strip_suffix(DELETE_SUFFIX).and_then(without_unique).and_then(parse_dir_name)
}

/// The partition of which a directory was being filled from another log directory's.
pub(crate) fn parse_future_dir_name(name: &str) -> Option<TopicPartition> {
    name.strip_suffix(FUTURE_SUFFIX).and_then(without_unique).and_then(parse_dir_name)
}

/// What stands before `.<32 hex digits>`.
fn without_unique(name: &str) -> Option<&str> {
    let (rest, unique) = name.rsplit_once('.')?;
    (unique.len() == 32 && unique.bytes().all(|b| b.is_ascii_hexdigit())).then_some(rest)
}

#[cfg(test)]
mod tests;
