//! Up to where a log is compacted: `ringlog-cleaned` in its directory.
//!
//! `magic "RLCL", kind u8 = 1, version u8 = 1, zeros u16, offset i64, CRC-32C u32` of all before. Written when a pass
//! has ended, removed before the log is cut below it. While a node runs, this file counts; at a clean stop the
//! directory's `cleaner-offset-checkpoint` tells Kafka, and the next start, the same.
//!
//! A cache: without it, or if it is damaged, all of the log counts as dirty.

use std::io;
use std::path::Path;

use bytes::{Buf, BufMut, Bytes, BytesMut};

use crate::Offset;
use crate::dir::files;
use crate::limits::CHECKPOINT_BYTES_MAX;
use crate::segment::names;

const HEAD: [u8; 8] = *b"RLCL\x01\x01\0\0";
const FILE_BYTES: usize = 20;

pub(crate) fn encode(cleaned: Offset) -> Bytes {
    let mut file = BytesMut::with_capacity(FILE_BYTES);
    file.put_slice(&HEAD);
    file.put_i64(cleaned.0);
    file.put_u32(crc32c::crc32c(&file));
    file.freeze()
}

/// The offset; `None` for anything that isn't such a file, also of a later version.
pub(crate) fn decode(file: &[u8]) -> Option<Offset> {
    let file: &[u8; FILE_BYTES] = file.try_into().ok()?;
    let (body, mut crc) = file.split_at(FILE_BYTES - 4);
    let mut offset = body.strip_prefix(&HEAD)?;
    (crc.get_u32() == crc32c::crc32c(body)).then(|| Offset(offset.get_i64()))
}

/// Reads the file of the partition's directory `dir`.
///
/// # Errors
/// The device's.
pub(crate) async fn read(dir: &Path) -> io::Result<Option<Offset>> {
    let read = files::content(files::read_small(&dir.join(names::CLEANED_UPTO), CHECKPOINT_BYTES_MAX).await)?;
    Ok(read.ok().flatten().and_then(|file| decode(&file)))
}

#[cfg(test)]
mod tests;
