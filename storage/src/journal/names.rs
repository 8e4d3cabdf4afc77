//! Names of journal files: plain files of the log directory, which Kafka skips.

use protocol::types::Uuid;

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
    parse_kept_name(name).is_some()
}

/// The partition whose records a name of [`kept_name`] says are in the file.
pub(crate) fn parse_kept_name(name: &str) -> Option<PartitionKey> {
    parse_put_aside_name(name, KEPT)
}

/// Whether it is a name of [`foreign_name`].
pub(crate) fn is_foreign(name: &str) -> bool {
    parse_put_aside_name(name, FOREIGN).is_some()
}

fn parse_put_aside_name(name: &str, prefix: &str) -> Option<PartitionKey> {
    let hex = |text: &str, digits: usize| text.len() == digits && text.bytes().all(|b| b.is_ascii_hexdigit());
    let parts: Vec<&str> = name.strip_prefix(prefix)?.splitn(3, '-').collect();
    match parts[..] {
        [journal, topic, number] if hex(journal, 16) && hex(topic, 32) => {
            let topic = u128::from_str_radix(topic, 16).ok()?;
            Some((Uuid(topic.to_be_bytes()), number.parse().ok()?))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests;
