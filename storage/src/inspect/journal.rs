//! A file of a shard's journal.

use protocol::types::Uuid;

use crate::journal::frame::{EntryKind, FrameHeader};
use crate::journal::header::FileHeader;
use crate::limits::BLOCK_BYTES;
use crate::{FilePos, LeaderEpoch, Offset};

/// What a file of a journal holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JournalFile {
    /// The shard that wrote it.
    pub shard: u16,
    /// Number of the file.
    pub number: u32,
    /// Id of the journal.
    pub journal: u64,
    /// Id of the start that made it; 0 if it isn't known.
    pub start: u64,
    /// The frames that count: from the first one on, each the successor of the one before.
    pub frames: Vec<JournalFrame>,
}

/// What one write brought to the journal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JournalFrame {
    /// Where it starts in the file, in bytes.
    pub position: u64,
    /// Its size, in bytes, without the zeros at its end.
    pub bytes: u32,
    /// Number of the frame; without a gap.
    pub sequence: u64,
    /// How many files were begun before this one.
    pub lap: u32,
    /// Frames before this one aren't needed any more.
    pub floor: u64,
    /// What it brings to partitions.
    pub entries: Vec<JournalEntry>,
}

/// One partition's part of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JournalEntry {
    /// Whether earlier entries of the partition are void; otherwise it brings bytes of a segment.
    pub is_floor: bool,
    /// The topic.
    pub topic_id: Uuid,
    /// The partition.
    pub partition: i32,
    /// Epoch of the first batch.
    pub leader_epoch: LeaderEpoch,
    /// Offset of the first batch.
    pub base: Offset,
    /// Base offset of the segment.
    pub segment: Offset,
    /// Where in the segment the bytes belong.
    pub position: FilePos,
    /// How many.
    pub bytes: u32,
}

/// Reads a whole file; none if it was never made whole, and so never used.
///
/// # Errors
/// A version of a later release.
pub fn journal(file: &[u8]) -> Result<Option<JournalFile>, String> {
    let Some(header) = FileHeader::decode(file)? else { return Ok(None) };
    let FileHeader { shard, number, journal, start } = header;
    let mut frames: Vec<JournalFrame> = Vec::new();
    let mut at = BLOCK_BYTES;
    // What isn't the successor of the last frame is of an earlier lap.
    while let Some((frame, end)) = file.get(at..).and_then(|rest| next(rest, at, journal, frames.last())) {
        frames.push(frame);
        at = end;
    }
    Ok(Some(JournalFile { shard, number, journal, start, frames }))
}

/// The frame at the start of `rest`, and where it ends in the file.
fn next(rest: &[u8], at: usize, journal: u64, last: Option<&JournalFrame>) -> Option<(JournalFrame, usize)> {
    let header = FrameHeader::peek(rest)?;
    let follows = last.is_none_or(|last| header.lap == last.lap && header.sequence == last.sequence + 1);
    if header.journal != journal || !follows {
        return None;
    }
    let entries = header.open(rest)?.into_iter().map(|(entry, _)| JournalEntry {
        is_floor: entry.kind == EntryKind::Floor,
        topic_id: entry.topic_id,
        partition: entry.partition,
        leader_epoch: entry.leader_epoch,
        base: entry.base,
        segment: entry.segment,
        position: entry.position,
        bytes: entry.bytes,
    });
    let frame = JournalFrame {
        position: at as u64,
        bytes: header.bytes,
        sequence: header.sequence,
        lap: header.lap,
        floor: header.floor,
        entries: entries.collect(),
    };
    Some((frame, at.checked_add(usize::try_from(header.padded_bytes()).ok()?)?))
}
