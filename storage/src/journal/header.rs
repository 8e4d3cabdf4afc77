//! The first block of a journal file.
//!
//! `magic "RLJH", kind u8 = 1, version u8 = 2, shard u16, number u32, journal id u64, start id u64, CRC-32C u32` of all
//! before; the rest of the block is zeros. It lies within one sector, and is on the medium before the first frame. Version 1
//! has no start id.

use bytes::{Buf, BufMut};

const MAGIC: &[u8; 4] = b"RLJH";
const KIND: u8 = 1;
const VERSION: u8 = 2;
const HEADER_BYTES: usize = 32;
const HEADER_BYTES_V1: usize = 24;

/// Whose file it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FileHeader {
    pub shard: u16,
    pub number: u32,
    /// Random; every frame of this journal carries it.
    pub journal: u64,
    /// Of the start that made it, as the directory has it ([`crate::dir::start`]); 0 if it isn't known.
    pub start: u64,
}

impl FileHeader {
    /// Writes it to the start of a block of zeros.
    pub(crate) fn encode(self, block: &mut [u8]) {
        let mut target = &mut block[..HEADER_BYTES];
        target.put_slice(MAGIC);
        target.put_slice(&[KIND, VERSION]);
        target.put_u16(self.shard);
        target.put_u32(self.number);
        target.put_u64(self.journal);
        target.put_u64(self.start);
        let crc = crc32c::crc32c(&block[..HEADER_BYTES - 4]);
        block[HEADER_BYTES - 4..HEADER_BYTES].copy_from_slice(&crc.to_be_bytes());
    }

    /// Reads a file's first block. `None` if there is no header: the file wasn't made whole, and never used.
    ///
    /// # Errors
    /// A version of a later release, which must not be guessed at.
    pub(crate) fn decode(block: &[u8]) -> Result<Option<Self>, String> {
        if block.len() < HEADER_BYTES || &block[..4] != MAGIC || block[4] != KIND {
            return Ok(None);
        }
        let bytes = if block[5] == 1 { HEADER_BYTES_V1 } else { HEADER_BYTES };
        let (body, mut crc) = block[..bytes].split_at(bytes - 4);
        if crc.get_u32() != crc32c::crc32c(body) {
            return Ok(None);
        }
        if !(1..=VERSION).contains(&block[5]) {
            return Err(format!(
                "version {} was written by a later release; this one knows {VERSION}",
                block[5]
            ));
        }
        let mut fields = &body[6..];
        let (shard, number, journal) = (fields.get_u16(), fields.get_u32(), fields.get_u64());
        let start = if fields.has_remaining() { fields.get_u64() } else { 0 };
        Ok(Some(Self { shard, number, journal, start }))
    }
}

#[cfg(test)]
mod tests;
