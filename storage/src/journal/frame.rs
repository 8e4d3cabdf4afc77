//! One frame: what one write brings to the journal.
//!
//! ```text
//!   magic "RLJF", kind u8 = 1, version u8 = 1, zeros u16, CRC-32C u32 of all behind it, bytes u32,
//!   journal id u64, lap u32, sequence u64, floor u64, entries u32
//!   entry:  kind u8 (1 data, 2 floor), zeros u8 u16, topic id, partition i32, leader epoch i32,
//!           base offset i64, segment i64, position u64, length u32
//!   payload: the bytes of the entries, in order; then zeros up to the next block
//! ```
//! `bytes` counts all but the zeros at the end. Data: whole record batches of one partition, and where in which
//! segment (named by its base offset) they belong. Floor: the partition's entries in earlier frames are void.

use bytes::{Buf, BufMut};
use protocol::types::Uuid;

use crate::limits::BLOCK_BYTES;
use crate::{FilePos, LeaderEpoch, Offset};

const MAGIC: &[u8; 4] = b"RLJF";
const KIND: u8 = 1;
const VERSION: u8 = 1;
/// Size of what stands before the entries, in bytes.
pub(crate) const HEADER_BYTES: usize = 48;
/// Size of one entry, in bytes.
pub(crate) const ENTRY_BYTES: usize = 56;
const CRC_AT: usize = 8;
const CRC_FROM: usize = 12;

/// What an entry says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EntryKind {
    /// Bytes of a segment.
    Data,
    /// Earlier entries of the partition are void.
    Floor,
}

/// One partition's part of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Entry {
    pub kind: EntryKind,
    pub topic_id: Uuid,
    pub partition: i32,
    /// Of the first batch.
    pub leader_epoch: LeaderEpoch,
    /// Of the first batch.
    pub base: Offset,
    /// The segment, by its base offset.
    pub segment: Offset,
    /// Where in the segment the bytes belong.
    pub position: FilePos,
    /// How many.
    pub bytes: u32,
}

/// What a frame says of itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FrameHeader {
    /// Id of the journal.
    pub journal: u64,
    /// How many files were begun before the one it is in.
    pub lap: u32,
    /// Number of the frame; without a gap.
    pub sequence: u64,
    /// Frames before this one aren't needed any more.
    pub floor: u64,
    /// Number of entries.
    pub entries: u32,
    /// Size without the zeros at its end.
    pub bytes: u32,
}

/// Size of a frame without the zeros at its end.
pub(crate) fn frame_bytes(entries: usize, payload_bytes: usize) -> usize {
    HEADER_BYTES + entries * ENTRY_BYTES + payload_bytes
}

impl FrameHeader {
    /// Size in the file: whole blocks.
    pub(crate) fn padded_bytes(&self) -> u64 {
        u64::from(self.bytes).next_multiple_of(BLOCK_BYTES as u64)
    }

    /// Finishes a frame whose entries and payload stand in `frame` already.
    pub(crate) fn seal(&self, frame: &mut [u8]) {
        let mut target = &mut frame[..HEADER_BYTES];
        target.put_slice(MAGIC);
        target.put_slice(&[KIND, VERSION, 0, 0]);
        target.put_u32(0);
        target.put_u32(self.bytes);
        target.put_u64(self.journal);
        target.put_u32(self.lap);
        target.put_u64(self.sequence);
        target.put_u64(self.floor);
        target.put_u32(self.entries);
        let crc = crc32c::crc32c(&frame[CRC_FROM..self.bytes as usize]);
        frame[CRC_AT..CRC_FROM].copy_from_slice(&crc.to_be_bytes());
    }

    /// Reads the start of a frame, whose CRC isn't checked yet; `None` if it can't be one.
    pub(crate) fn peek(block: &[u8]) -> Option<Self> {
        if block.len() < HEADER_BYTES || &block[..4] != MAGIC || block[4..6] != [KIND, VERSION] {
            return None;
        }
        let mut fields = &block[CRC_FROM..HEADER_BYTES];
        let bytes = fields.get_u32();
        let header = Self {
            bytes,
            journal: fields.get_u64(),
            lap: fields.get_u32(),
            sequence: fields.get_u64(),
            floor: fields.get_u64(),
            entries: fields.get_u32(),
        };
        let least = HEADER_BYTES as u64 + u64::from(header.entries) * ENTRY_BYTES as u64;
        (least <= u64::from(bytes)).then_some(header)
    }

    /// The entries of a whole frame, each with where its bytes start in it; `None` if the frame isn't what its CRC
    /// says.
    pub(crate) fn open(&self, frame: &[u8]) -> Option<Vec<(Entry, usize)>> {
        let whole = frame.get(..self.bytes as usize)?;
        let crc = crc32c::crc32c(&whole[CRC_FROM..]);
        if whole[CRC_AT..CRC_FROM] != crc.to_be_bytes() {
            return None;
        }
        let mut entries = Vec::with_capacity(self.entries as usize);
        let mut at = frame_bytes(self.entries as usize, 0);
        for encoded in whole[HEADER_BYTES..at].chunks_exact(ENTRY_BYTES) {
            let entry = Entry::decode(encoded)?;
            entries.push((entry, at));
            at += entry.bytes as usize;
        }
        (at == whole.len()).then_some(entries)
    }
}

impl Entry {
    /// Where its bytes end in the segment.
    pub(crate) fn end(&self) -> u64 {
        self.position.0 + u64::from(self.bytes)
    }

    /// Writes it as number `index` of a frame.
    pub(crate) fn encode(&self, frame: &mut [u8], index: usize) {
        let at = frame_bytes(index, 0);
        let mut target = &mut frame[at..at + ENTRY_BYTES];
        let kind = match self.kind {
            EntryKind::Data => 1,
            EntryKind::Floor => 2,
        };
        target.put_slice(&[kind, 0, 0, 0]);
        target.put_slice(&self.topic_id.0);
        target.put_i32(self.partition);
        target.put_i32(self.leader_epoch.0);
        target.put_i64(self.base.0);
        target.put_i64(self.segment.0);
        target.put_u64(self.position.0);
        target.put_u32(self.bytes);
    }

    fn decode(mut fields: &[u8]) -> Option<Self> {
        let kind = match fields.get_u32() >> 24 {
            1 => EntryKind::Data,
            2 => EntryKind::Floor,
            _ => return None,
        };
        let mut topic_id = [0; 16];
        fields.copy_to_slice(&mut topic_id);
        Some(Self {
            kind,
            topic_id: Uuid(topic_id),
            partition: fields.get_i32(),
            leader_epoch: LeaderEpoch(fields.get_i32()),
            base: Offset(fields.get_i64()),
            segment: Offset(fields.get_i64()),
            position: FilePos(fields.get_u64()),
            bytes: fields.get_u32(),
        })
    }
}

#[cfg(test)]
pub(crate) mod tests;
