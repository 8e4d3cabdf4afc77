//! One flush of the log: a hard state and the entries that came with it.
//!
//! ```text
//!   magic u32 │ payload bytes u32 │ CRC-32C u32 │ sequence u64 │ payload │ zeros up to a block
//! ```
//! The checksum covers the file's id, the sequence, the length and the payload. A frame starts at a block and shares
//! none, so a write never touches what was durable before.

use bytes::{Buf, BufMut, Bytes, TryGetError};
use raft::eraftpb::{Entry, EntryType, HardState};
use rt::fs::BLOCK;

const MAGIC: u32 = 0x524c_4652;
const HEADER_BYTES: usize = 20;
/// Bytes of an entry besides its data and context.
const ENTRY_BYTES: usize = 25;
const PAYLOAD_BYTES: usize = 28;

/// What one flush makes durable.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Frame {
    pub(super) hard_state: HardState,
    pub(super) entries: Vec<Entry>,
}

impl Frame {
    /// The frame in whole blocks.
    pub(super) fn encode(&self, file_id: u64, seq: u64) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(BLOCK);
        bytes.resize(HEADER_BYTES, 0);
        bytes.put_u64(self.hard_state.term);
        bytes.put_u64(self.hard_state.vote);
        bytes.put_u64(self.hard_state.commit);
        bytes.put_u32(len_u32(self.entries.len()));
        for entry in &self.entries {
            bytes.put_u64(entry.index);
            bytes.put_u64(entry.term);
            bytes.put_u8(entry_type(entry.get_entry_type()));
            for field in [&entry.data, &entry.context] {
                bytes.put_u32(len_u32(field.len()));
                bytes.put_slice(field);
            }
        }
        let payload_len = len_u32(bytes.len() - HEADER_BYTES);
        let crc = checksum(file_id, seq, payload_len, &bytes[HEADER_BYTES..]);
        let mut header = &mut bytes[..HEADER_BYTES];
        header.put_u32(MAGIC);
        header.put_u32(payload_len);
        header.put_u32(crc);
        header.put_u64(seq);
        bytes.resize(bytes.len().next_multiple_of(BLOCK), 0);
        bytes
    }

    /// The frame at the start of `bytes`, its sequence number, and its bytes in whole blocks; none if there is no sound
    /// frame.
    pub(super) fn decode(bytes: &Bytes, file_id: u64) -> Option<(Frame, u64, usize)> {
        let mut header = bytes.get(..HEADER_BYTES)?;
        if header.get_u32() != MAGIC {
            return None;
        }
        let (len, crc, seq) = (header.get_u32(), header.get_u32(), header.get_u64());
        let end = HEADER_BYTES.checked_add(len as usize)?;
        let payload = bytes.get(HEADER_BYTES..end)?;
        if crc != checksum(file_id, seq, len, payload) {
            return None;
        }
        let frame = Self::read(&mut bytes.slice(HEADER_BYTES..end)).ok()?;
        // Without its last block whole, the flush wasn't finished.
        let whole = end.next_multiple_of(BLOCK);
        (bytes.len() >= whole).then_some((frame, seq, whole))
    }

    fn read(payload: &mut Bytes) -> Result<Self, TryGetError> {
        let mut hard_state = HardState::default();
        hard_state.set_term(payload.try_get_u64()?);
        hard_state.set_vote(payload.try_get_u64()?);
        hard_state.set_commit(payload.try_get_u64()?);
        let count = payload.try_get_u32()?;
        let entries = (0..count).map(|_| read_entry(payload)).collect::<Result<_, _>>()?;
        Ok(Self { hard_state, entries })
    }
}

/// Most bytes of a frame with entries of `count` and `data` bytes, in whole blocks.
pub(super) fn frame_bytes(count: usize, data: usize) -> u64 {
    // One more entry: a new leader's own.
    let bytes = HEADER_BYTES + PAYLOAD_BYTES + (count + 1) * ENTRY_BYTES + data;
    bytes.next_multiple_of(BLOCK) as u64
}

fn read_entry(payload: &mut Bytes) -> Result<Entry, TryGetError> {
    let mut entry = Entry::default();
    entry.set_index(payload.try_get_u64()?);
    entry.set_term(payload.try_get_u64()?);
    entry.set_entry_type(match payload.try_get_u8()? {
        1 => EntryType::EntryConfChange,
        2 => EntryType::EntryConfChangeV2,
        _ => EntryType::EntryNormal,
    });
    entry.set_data(take(payload)?);
    entry.set_context(take(payload)?);
    Ok(entry)
}

fn take(payload: &mut Bytes) -> Result<Bytes, TryGetError> {
    let requested = payload.try_get_u32()? as usize;
    let available = payload.remaining();
    if requested > available {
        return Err(TryGetError { requested, available });
    }
    // A copy: a slice would keep the whole file in memory.
    Ok(Bytes::copy_from_slice(&payload.split_to(requested)))
}

fn entry_type(kind: EntryType) -> u8 {
    match kind {
        EntryType::EntryNormal => 0,
        EntryType::EntryConfChange => 1,
        EntryType::EntryConfChangeV2 => 2,
    }
}

fn checksum(file_id: u64, seq: u64, payload_len: u32, payload: &[u8]) -> u32 {
    let crc = crc32c::crc32c(&file_id.to_be_bytes());
    let crc = crc32c::crc32c_append(crc, &seq.to_be_bytes());
    let crc = crc32c::crc32c_append(crc, &payload_len.to_be_bytes());
    crc32c::crc32c_append(crc, payload)
}

/// Entries are bounded far below this (`limits::ENTRY_BYTES_MAX`).
fn len_u32(len: usize) -> u32 {
    u32::try_from(len).unwrap_or(u32::MAX)
}
