//! What a repair does, one thing after the other.

use std::fmt;
use std::ops::Range;
use std::path::Path;

use bytes::Bytes;
use storage::inspect::{self, FileKind, SegmentIndexes, file_name};
use storage::{Offset, TopicPartition};

use super::super::batches::{Batches, Found};
use super::super::change;
use super::super::input::text;
use crate::cli::error::CliError;

/// One thing done to a partition's directory. In whatever order a crash cuts them short, the next repair finds what is left
/// to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Step {
    /// Copies what stands in a segment from there on into a file of its own.
    Keep { segment: Offset, position: u64, bytes: u64, name: String },
    /// Gives a file another name.
    Rename { from: String, to: String },
    /// Removes a file that can be made again, or is void.
    Remove { name: String },
    /// Writes a small file anew.
    Write { name: String, content: Bytes },
    /// Sees to it that the directory's files of offsets tell nothing behind the log's end.
    Clip { end: Offset },
    /// Cuts a segment off.
    Cut { segment: Offset, bytes: u64 },
    /// Leaves of a segment only these pieces.
    KeepOnly { segment: Offset, pieces: Vec<Range<u64>> },
    /// Makes a segment's indexes anew.
    Index { segment: Offset },
}

/// Bytes between two entries of an index: Kafka's default of `index.interval.bytes`.
const INDEX_INTERVAL_BYTES: u32 = 4096;
/// The directory's files of one offset per partition.
const OFFSET_FILES: [&str; 5] = [
    "recovery-point-offset-checkpoint",
    "log-start-offset-checkpoint",
    "replication-offset-checkpoint",
    "cleaner-offset-checkpoint",
    "ringlog-log-starts",
];

fn log_name(segment: Offset) -> String {
    file_name(FileKind::Log(segment)).unwrap_or_default()
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Keep { segment, position, bytes, name } => {
                write!(f, "keep   {} from byte {position} on as {name}, {bytes} bytes", log_name(*segment))
            }
            Self::Rename { from, to } => write!(f, "rename {from} to {to}"),
            Self::Remove { name } => write!(f, "remove {name}"),
            Self::Write { name, .. } => write!(f, "write  {name}"),
            Self::Clip { end } => write!(f, "write  the directory's files of offsets: the log ends at {end}"),
            Self::Cut { segment, bytes } => write!(f, "cut    {} at byte {bytes}", log_name(*segment)),
            Self::KeepOnly { segment, pieces } => {
                let bytes: u64 = pieces.iter().map(|piece| piece.end - piece.start).sum();
                write!(f, "thin   {}: its sound batches stay, {bytes} bytes", log_name(*segment))
            }
            Self::Index { segment } => write!(f, "index  {} anew", log_name(*segment)),
        }
    }
}

impl Step {
    /// Does it, durably, to the partition `of` in the directory `dir` of the log directory `root`.
    pub(super) fn carry_out(&self, root: &Path, dir: &Path, of: &TopicPartition) -> Result<(), CliError> {
        let log = |segment: &Offset| dir.join(log_name(*segment));
        match self {
            Self::Keep { segment, position, name, .. } => {
                change::copy_from(&log(segment), *position, &dir.join(name))
            }
            Self::Rename { from, to } => change::rename(&dir.join(from), &dir.join(to)),
            Self::Remove { name } => change::remove(&dir.join(name)),
            Self::Write { name, content } => change::replace(&dir.join(name), content),
            Self::Clip { end } => OFFSET_FILES.iter().try_for_each(|name| clip(&root.join(name), of, *end)),
            Self::Cut { segment, bytes } => change::cut(&log(segment), *bytes),
            Self::KeepOnly { segment, pieces } => change::keep_only(&log(segment), pieces),
            Self::Index { segment } => index(&log(segment), *segment, dir),
        }
    }
}

/// A damaged file of offsets counts as empty, here as at a start.
fn clip(path: &Path, of: &TopicPartition, end: Offset) -> Result<(), CliError> {
    if !change::exists(path) {
        return Ok(());
    }
    let Ok(mut offsets) = text(path)?.and_then(|text| inspect::offsets(&text)) else { return Ok(()) };
    match offsets.get_mut(of).filter(|offset| **offset > end) {
        Some(offset) => *offset = end,
        None => return Ok(()),
    }
    change::replace(path, inspect::offsets_text(&offsets).as_bytes())
}

/// What isn't a batch ends the indexes: a torn end that the next start cuts off.
fn index(log: &Path, segment: Offset, dir: &Path) -> Result<(), CliError> {
    let mut indexes = SegmentIndexes::new(segment, INDEX_INTERVAL_BYTES);
    for (_, found) in Batches::open(log)? {
        match found {
            Found::Batch(batch) if indexes.holds(batch.header()) => indexes.push(batch.header()),
            _ => break,
        }
    }
    let (offsets, times) = indexes.finish();
    let path = |kind: FileKind| dir.join(file_name(kind).unwrap_or_default());
    change::replace(&path(FileKind::TimeIndex(segment)), &times)?;
    change::replace(&path(FileKind::OffsetIndex(segment)), &offsets)
}
