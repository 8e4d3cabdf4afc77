//! Small files: checkpoints, identities.

use bytes::Bytes;
use protocol::types::Uuid;

use crate::compaction::noted;
use crate::dir::{Offsets, meta, offsets_file, start as start_file, unrecovered as unrecovered_file};
use crate::log::checkpoint::LogCheckpoint;
use crate::{LeaderEpoch, Offset, TopicPartition};

/// What `ringlog-checkpoint` says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Checkpoint {
    /// Records below aren't served.
    pub start: Offset,
    /// Everything below was synced.
    pub recovery_point: Offset,
}

/// Reads `ringlog-checkpoint`.
///
/// # Errors
/// Words for what is wrong with it.
pub fn checkpoint(file: &[u8]) -> Result<Checkpoint, String> {
    let LogCheckpoint { start, recovery_point, .. } = LogCheckpoint::decode(&Bytes::copy_from_slice(file))?;
    Ok(Checkpoint { start, recovery_point })
}

/// `ringlog-checkpoint` that says so.
pub fn checkpoint_file(checkpoint: Checkpoint) -> Bytes {
    let Checkpoint { start, recovery_point } = checkpoint;
    LogCheckpoint { start, recovery_point }.encode()
}

/// Reads `ringlog-cleaned`: up to where the log is compacted. `None` for what isn't such a file.
pub fn cleaned(file: &[u8]) -> Option<Offset> {
    noted::decode(file)
}

/// `ringlog-cleaned` that says so.
pub fn cleaned_file(upto: Offset) -> Bytes {
    noted::encode(upto)
}

/// Reads a file of one offset per partition. Kafka makes an empty one before it has something to write.
///
/// # Errors
/// Words for what is wrong with it.
pub fn offsets(text: &str) -> Result<Offsets, String> {
    if text.is_empty() { Ok(Offsets::new()) } else { offsets_file::parse(text) }
}

/// A file of one offset per partition, as Kafka writes it.
pub fn offsets_text(offsets: &Offsets) -> String {
    offsets_file::to_text(offsets)
}

/// Reads `leader-epoch-checkpoint` as it stands: lines that contradict each other included.
///
/// # Errors
/// Words for what can't be read.
pub fn epochs(text: &str) -> Result<Vec<(LeaderEpoch, Offset)>, String> {
    let mut lines = text.lines();
    if lines.next() != Some("0") {
        return Err("the version isn't 0".into());
    }
    let count: usize = lines.next().and_then(|line| line.trim().parse().ok()).ok_or("no count of entries")?;
    let entry = |line: &str| {
        let (epoch, offset) = line.split_once(' ')?;
        Some((LeaderEpoch(epoch.parse().ok()?), Offset(offset.trim().parse().ok()?)))
    };
    let mut entries = Vec::new();
    for line in lines.filter(|line| !line.trim().is_empty()) {
        entries.push(entry(line).ok_or_else(|| format!("{line:?} isn't an epoch and its start offset"))?);
    }
    if entries.len() == count {
        Ok(entries)
    } else {
        Err(format!("{} entries instead of the {count} announced", entries.len()))
    }
}

/// Reads `partition.metadata`: the topic's id.
///
/// # Errors
/// Words for what is wrong with it.
pub fn partition_metadata(text: &str) -> Result<Uuid, String> {
    meta::parse_partition_metadata(text)
}

/// The mark of a clean stop, of a broker that had this epoch.
pub fn clean_marker_text(broker_epoch: i64) -> String {
    meta::clean_marker_text(broker_epoch)
}

/// Reads `ringlog-start`: the id of the start that took the directory last.
///
/// # Errors
/// Words for what is wrong with it.
pub fn start(file: &[u8]) -> Result<u64, String> {
    start_file::decode(file).ok_or_else(|| "it isn't what was written".to_owned())
}

/// Reads `ringlog-unrecovered`.
///
/// # Errors
/// Words for what is wrong with it.
pub fn unrecovered(text: &str) -> Result<Vec<TopicPartition>, String> {
    Ok(unrecovered_file::parse(text)?.into_iter().collect())
}
