//! Names of journal files: plain files of the log directory, which Kafka skips.

use super::chain::PartitionKey;

const KEPT: &str = "ringlog-kept-";
const FOREIGN: &str = "ringlog-foreign-";
const PREFIX: &str = "ringlog-journal-";

/// `ringlog-journal-<shard>-<n>`.
pub(crate) fn file_name(shard: u16, number: u32) -> String {
    format!("{PREFIX}{shard}-{number}")
}

/// Shard and number of a journal file's name; `None` for any other name.
pub(crate) fn parse_file_name(name: &str) -> Option<(u16, u32)> {
    let (shard, number) = name.strip_prefix(PREFIX)?.split_once('-')?;
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(shard) || !digits(number) {
        return None;
    }
    Some((shard.parse().ok()?, number.parse().ok()?))
}

/// `ringlog-kept-<journal>-<topic id>-<partition>`: what a replay found no place for, until it finds one.
pub(crate) fn kept_name(journal: u64, partition: &PartitionKey) -> String {
    put_aside_name(KEPT, journal, partition)
}

/// `ringlog-foreign-<journal>-<topic id>-<partition>`: what another broker's records stand in place of. Nobody reads it
/// but the operator.
pub(crate) fn foreign_name(journal: u64, partition: &PartitionKey) -> String {
    put_aside_name(FOREIGN, journal, partition)
}

fn put_aside_name(prefix: &str, journal: u64, (topic, partition): &PartitionKey) -> String {
    let topic: String = topic.0.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("{prefix}{journal:016x}-{topic}-{partition}")
}

/// Whether it is a name of [`kept_name`].
pub(crate) fn is_kept(name: &str) -> bool {
    is_put_aside(name, KEPT)
}

/// Whether it is a name of [`foreign_name`].
pub(crate) fn is_foreign(name: &str) -> bool {
    is_put_aside(name, FOREIGN)
}

fn is_put_aside(name: &str, prefix: &str) -> bool {
    let hex = |text: &str, digits: usize| text.len() == digits && text.bytes().all(|b| b.is_ascii_hexdigit());
    let Some(rest) = name.strip_prefix(prefix) else { return false };
    let parts: Vec<&str> = rest.splitn(3, '-').collect();
    matches!(parts[..], [journal, topic, number] if hex(journal, 16) && hex(topic, 32) && number.parse::<i32>().is_ok())
}

#[cfg(test)]
mod tests;
