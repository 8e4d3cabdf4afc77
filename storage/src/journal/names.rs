//! Names of journal files: plain files of the log directory, which Kafka skips.

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

#[cfg(test)]
mod tests;
