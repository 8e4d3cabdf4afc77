//! What a log remembers of itself that neither its file names nor its batches tell: `ringlog-checkpoint` in
//! its directory.
//!
//! `magic "RLPC", kind u8 = 1, version u8 = 1, zeros u16, start offset i64, recovery point i64, CRC-32C u32`
//! of all before. Kafka skips the file. Written whole and in place of the old one when the start offset is
//! advanced, before a truncation below the recovery point, and now and then while a segment fills.

use bytes::{Buf, BufMut, Bytes, BytesMut};

use crate::Offset;

const MAGIC: &[u8; 4] = b"RLPC";
const KIND: u8 = 1;
const VERSION: u8 = 1;
const FILE_BYTES: usize = 28;

/// Start and recovery point of one log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct LogCheckpoint {
    /// Records below aren't served, even where their segment is still there (DeleteRecords, KIP-107).
    pub start: Offset,
    /// Everything below was synced: damage there is reported, not cut off.
    pub recovery_point: Offset,
}

impl LogCheckpoint {
    pub(crate) fn encode(self) -> Bytes {
        let mut file = BytesMut::with_capacity(FILE_BYTES);
        file.put_slice(MAGIC);
        file.put_slice(&[KIND, VERSION, 0, 0]);
        file.put_i64(self.start.0);
        file.put_i64(self.recovery_point.0);
        file.put_u32(crc32c::crc32c(&file));
        file.freeze()
    }

    /// Reads the file.
    ///
    /// # Errors
    /// Words for what is wrong with it: also a version of a later release, which must not be guessed at.
    pub(crate) fn decode(file: &Bytes) -> Result<Self, String> {
        if file.len() < FILE_BYTES || &file[..4] != MAGIC || file[4] != KIND {
            return Err("it isn't a log checkpoint".into());
        }
        if file[5] != VERSION {
            return Err(format!(
                "version {} was written by a later release; this one knows {VERSION}",
                file[5]
            ));
        }
        let (body, mut crc) = (&file[..FILE_BYTES - 4], &file[FILE_BYTES - 4..FILE_BYTES]);
        if file.len() != FILE_BYTES || crc.get_u32() != crc32c::crc32c(body) {
            return Err("the CRC doesn't match".into());
        }
        let mut fields = &body[8..];
        Ok(Self { start: Offset(fields.get_i64()), recovery_point: Offset(fields.get_i64()) })
    }
}

#[cfg(test)]
mod tests;
