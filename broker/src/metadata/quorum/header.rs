//! The first block of each file: what it is, whose, and in which version.

use bytes::{BufMut, Bytes};
use protocol::types::Str;
use protocol::wire::{DecodeError, Reader};
use rt::fs::BLOCK;
use storage::limits::CLUSTER_ID_BYTES_MAX;

/// First bytes of every file of ours.
const MAGIC: &[u8; 8] = b"RINGLOG\0";
/// The format this code writes, and the newest it reads.
pub(super) const VERSION: u16 = 1;
const PREFIX_BYTES: usize = 16;

/// Which file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u16)]
pub(super) enum Kind {
    Log = 1,
    Snapshot = 2,
}

/// Why a header isn't taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum HeaderError {
    /// It may be right, but not for us.
    Refused(String),
    /// It isn't what was written.
    Damaged(String),
}

/// Header of the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct LogHeader {
    /// Random; part of every frame's checksum, so that no frame of another file, and nothing a client sends, is taken
    /// for one of this file.
    pub(super) file_id: u64,
    pub(super) raft_id: u64,
    /// Index and term of the last entry before this file; 0 when it is the first.
    pub(super) start_index: u64,
    pub(super) start_term: u64,
    /// Sequence number of the first frame.
    pub(super) first_seq: u64,
    pub(super) cluster_id: Str,
}

/// Header of a snapshot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SnapshotHeader {
    pub(super) raft_id: u64,
    /// Index and term of the last entry in it.
    pub(super) index: u64,
    pub(super) term: u64,
    /// Offset and epoch of the image.
    pub(super) offset: i64,
    pub(super) epoch: u32,
    pub(super) records: u64,
    pub(super) body_bytes: u64,
    pub(super) body_crc: u32,
    pub(super) cluster_id: Str,
}

impl LogHeader {
    /// The header as a whole block.
    pub(super) fn encode(&self) -> Vec<u8> {
        let mut fields = Vec::new();
        fields.put_u64(self.file_id);
        fields.put_u64(self.raft_id);
        fields.put_u64(self.start_index);
        fields.put_u64(self.start_term);
        fields.put_u64(self.first_seq);
        put_text(&mut fields, &self.cluster_id);
        block(Kind::Log, &fields)
    }

    pub(super) fn decode(file: &Bytes) -> Result<Self, HeaderError> {
        fields(Kind::Log, file, |r| {
            Ok(Self {
                file_id: u64_of(r)?,
                raft_id: u64_of(r)?,
                start_index: u64_of(r)?,
                start_term: u64_of(r)?,
                first_seq: u64_of(r)?,
                cluster_id: text_of(r)?,
            })
        })
    }
}

impl SnapshotHeader {
    /// The header as a whole block.
    pub(super) fn encode(&self) -> Vec<u8> {
        let mut fields = Vec::new();
        fields.put_u64(self.raft_id);
        fields.put_u64(self.index);
        fields.put_u64(self.term);
        fields.put_i64(self.offset);
        fields.put_u32(self.epoch);
        fields.put_u64(self.records);
        fields.put_u64(self.body_bytes);
        fields.put_u32(self.body_crc);
        put_text(&mut fields, &self.cluster_id);
        block(Kind::Snapshot, &fields)
    }

    pub(super) fn decode(file: &Bytes) -> Result<Self, HeaderError> {
        fields(Kind::Snapshot, file, |r| {
            Ok(Self {
                raft_id: u64_of(r)?,
                index: u64_of(r)?,
                term: u64_of(r)?,
                offset: r.i64()?,
                epoch: r.i32()?.cast_unsigned(),
                records: u64_of(r)?,
                body_bytes: u64_of(r)?,
                body_crc: r.i32()?.cast_unsigned(),
                cluster_id: text_of(r)?,
            })
        })
    }
}

fn u64_of(r: &mut Reader) -> Result<u64, DecodeError> {
    r.i64().map(i64::cast_unsigned)
}

fn text_of(r: &mut Reader) -> Result<Str, DecodeError> {
    r.opt_string(false)?.ok_or_else(|| r.null())
}

fn put_text(fields: &mut Vec<u8>, text: &str) {
    // Storage refuses longer ones when it reads the directory's identity.
    assert!(text.len() <= CLUSTER_ID_BYTES_MAX, "a cluster id of {} bytes", text.len());
    fields.put_u16(u16::try_from(text.len()).unwrap_or(u16::MAX));
    fields.put_slice(text.as_bytes());
}

/// Magic, kind, version, length, fields, checksum of all before; zeros up to a block.
fn block(kind: Kind, fields: &[u8]) -> Vec<u8> {
    let mut block = Vec::with_capacity(BLOCK);
    block.put_slice(MAGIC);
    block.put_u16(kind as u16);
    block.put_u16(VERSION);
    block.put_u32(u32::try_from(fields.len()).unwrap_or(u32::MAX));
    block.put_slice(fields);
    block.put_u32(crc32c::crc32c(&block));
    assert!(block.len() <= BLOCK, "a header of {} bytes is no block", block.len());
    block.resize(BLOCK, 0);
    block
}

fn fields<T>(
    kind: Kind,
    file: &Bytes,
    read: impl FnOnce(&mut Reader) -> Result<T, DecodeError>,
) -> Result<T, HeaderError> {
    let damaged = |why: &str| HeaderError::Damaged(why.into());
    if file.len() < BLOCK {
        return Err(damaged("it ends within its header"));
    }
    let number = |at: usize| u16::from_be_bytes([file[at], file[at + 1]]);
    if &file[..8] != MAGIC {
        return Err(HeaderError::Refused("it is no file of Ringlog".into()));
    }
    if number(8) != kind as u16 {
        return Err(HeaderError::Refused(format!("it is a file of kind {}, not {}", number(8), kind as u16)));
    }
    // The version comes before the checksum: a newer format may keep it elsewhere.
    if number(10) > VERSION {
        return Err(HeaderError::Refused(format!(
            "it was written in format {} by a newer version of Ringlog; this one reads formats up to {VERSION}",
            number(10)
        )));
    }
    let len = u32::from_be_bytes([file[12], file[13], file[14], file[15]]) as usize;
    let end = PREFIX_BYTES + len.min(BLOCK);
    if end + 4 > BLOCK {
        return Err(damaged("the length of its header is wrong"));
    }
    let crc = u32::from_be_bytes([file[end], file[end + 1], file[end + 2], file[end + 3]]);
    if number(10) == 0 || crc != crc32c::crc32c(&file[..end]) {
        return Err(damaged("the checksum of its header is wrong"));
    }
    let mut r = Reader::new(file.slice(PREFIX_BYTES..end));
    let header = read(&mut r).and_then(|header| r.finish().map(|()| header));
    header.map_err(|error| damaged(&error.to_string()))
}
