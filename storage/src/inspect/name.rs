//! What files and directories are, by their names.

use crate::dir::{log_starts, meta, offsets_file, start, unrecovered};
use crate::journal::names as journal_names;
use crate::segment::names;
use crate::{Offset, TopicPartition};

/// What a file holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileKind {
    /// Record batches of the segment at this offset.
    Log(Offset),
    /// Its offset index.
    OffsetIndex(Offset),
    /// Its time index.
    TimeIndex(Offset),
    /// Its index of aborted transactions.
    TxnIndex(Offset),
    /// State of the producers before this offset.
    Snapshot(Offset),
    /// Record batches of a compacted segment at this offset that is to take the place of those within its offsets: the next
    /// start sees to that.
    Swap(Offset),
    /// What a repair moved aside.
    Damaged,
    /// Record batches of a snapshot of Kafka's metadata: `<20 digits>-<10 digits>.checkpoint`.
    MetadataSnapshot,
    /// Where each leader epoch starts.
    Epochs,
    /// The topic's id.
    PartitionMetadata,
    /// Start and recovery point of a log, in our own file.
    Checkpoint,
    /// One offset per partition: recovery points, starts, high watermarks, what was compacted.
    Offsets,
    /// Whose directory it is.
    MetaProperties,
    /// The mark of a clean stop.
    CleanMarker,
    /// The lock of a running broker.
    Lock,
    /// Part of a shard's journal.
    Journal {
        /// The shard.
        shard: u16,
        /// Number of the file.
        number: u32,
    },
    /// Records of a journal that found no place at a start, in a file like a journal's.
    Kept,
    /// Records of a journal in whose place another broker's stand, likewise.
    Foreign,
    /// Which start took the directory last.
    Start,
    /// Partitions that nobody opened since a crash.
    Unrecovered,
    /// The mark of an adoption that isn't finished.
    Adopting,
    /// What a crash left of something cut short; the next start removes it.
    Leftover,
    /// Something else.
    Other,
}

/// What a file of this name holds.
pub fn file_kind(name: &str) -> FileKind {
    match name {
        names::EPOCHS => FileKind::Epochs,
        names::METADATA => FileKind::PartitionMetadata,
        names::CHECKPOINT => FileKind::Checkpoint,
        offsets_file::RECOVERY_POINTS
        | offsets_file::LOG_STARTS
        | offsets_file::HIGH_WATERMARKS
        | log_starts::KEPT
        | COMPACTED => FileKind::Offsets,
        meta::META_PROPERTIES => FileKind::MetaProperties,
        meta::CLEAN_MARKER => FileKind::CleanMarker,
        meta::LOCK => FileKind::Lock,
        start::START => FileKind::Start,
        unrecovered::UNRECOVERED => FileKind::Unrecovered,
        meta::ADOPTING => FileKind::Adopting,
        _ => by_pattern(name),
    }
}

/// Kafka's file of how far each log was compacted.
const COMPACTED: &str = "cleaner-offset-checkpoint";

fn by_pattern(name: &str) -> FileKind {
    if let Some((shard, number)) = journal_names::parse_file_name(name) {
        return FileKind::Journal { shard, number };
    }
    if journal_names::is_kept(name) {
        return FileKind::Kept;
    }
    if journal_names::is_foreign(name) {
        return FileKind::Foreign;
    }
    if is_metadata_snapshot(name) {
        return FileKind::MetadataSnapshot;
    }
    if name.starts_with(names::DAMAGED_PREFIX) {
        return FileKind::Damaged;
    }
    if let Some(swapped) = name.strip_suffix(names::SWAP).and_then(|rest| rest.strip_suffix('.')) {
        return match names::parse_file_name(swapped) {
            Some((base, names::LOG)) => FileKind::Swap(base),
            // They go without their log, which stands for the whole segment.
            Some(_) => FileKind::Leftover,
            None => FileKind::Other,
        };
    }
    match names::parse_file_name(name) {
        Some((base, names::LOG)) => FileKind::Log(base),
        Some((base, names::INDEX)) => FileKind::OffsetIndex(base),
        Some((base, names::TIME_INDEX)) => FileKind::TimeIndex(base),
        Some((base, names::TXN_INDEX)) => FileKind::TxnIndex(base),
        Some((base, names::SNAPSHOT)) => FileKind::Snapshot(base),
        _ if names::is_leftover(name) => FileKind::Leftover,
        _ => FileKind::Other,
    }
}

/// The name under which a repair keeps a part of the segment at `base`: what stood from `position` on, in bytes.
pub fn damaged_part_name(base: Offset, position: u64) -> String {
    format!("{}{:020}-{position}", names::DAMAGED_PREFIX, base.0)
}

/// The name under which a repair keeps a whole file. Without dots: Kafka goes by what follows the last one, and takes what stands before the first
/// for a number; at one that isn't it gives the log up.
pub fn damaged_file_name(name: &str) -> String {
    format!("{}{}", names::DAMAGED_PREFIX, name.replace('.', "-"))
}

/// The name of a segment's file of that kind; `None` for kinds that aren't a segment's.
pub fn file_name(kind: FileKind) -> Option<String> {
    let (base, suffix) = match kind {
        FileKind::Log(base) => (base, names::LOG),
        FileKind::OffsetIndex(base) => (base, names::INDEX),
        FileKind::TimeIndex(base) => (base, names::TIME_INDEX),
        FileKind::TxnIndex(base) => (base, names::TXN_INDEX),
        FileKind::Snapshot(base) => (base, names::SNAPSHOT),
        _ => return None,
    };
    Some(names::file_name(base, suffix))
}

/// The name of a partition's directory.
pub fn dir_name(of: &TopicPartition) -> String {
    names::dir_name(of)
}

fn is_metadata_snapshot(name: &str) -> bool {
    let digits =
        |text: &str, count: usize| text.len() == count && text.bytes().all(|byte| byte.is_ascii_digit());
    let parts = name.strip_suffix(".checkpoint").and_then(|rest| rest.split_once('-'));
    parts.is_some_and(|(offset, epoch)| digits(offset, 20) && digits(epoch, 10))
}

/// What a directory below a log directory holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DirKind {
    /// A partition.
    Partition(TopicPartition),
    /// A partition that was deleted, and is about to be removed.
    Deleted,
    /// A partition of a topic that isn't there any more, kept for the operator.
    Stray,
    /// Something else.
    Other,
}

/// What a directory of this name holds.
pub fn dir_kind(name: &str) -> DirKind {
    match names::parse_dir_name(name) {
        Some(partition) => DirKind::Partition(partition),
        None if names::is_deleted_dir(name) => DirKind::Deleted,
        None if name.ends_with(names::STRAY_SUFFIX) => DirKind::Stray,
        None => DirKind::Other,
    }
}
