//! `ringlog-start`: which start of a node took the directory last. Journals repeat it: one of another start is of another state
//! of the directory, as a copy put back would be. Kafka skips the file.
//!
//! `magic "RLST", kind u8 = 1, version u8 = 1, zeros u16, start id u64, CRC-32C u32` of all before.

use std::io;
use std::path::Path;

use bytes::{Buf, BufMut, Bytes, BytesMut};

use super::files;
use crate::error::is_full;

/// The file's name.
pub(crate) const START: &str = "ringlog-start";
const MAGIC: &[u8; 4] = b"RLST";
const KIND: u8 = 1;
const VERSION: u8 = 1;
const FILE_BYTES: usize = 20;

/// The last start's id; `None` if the directory doesn't tell.
///
/// # Errors
/// The device's.
pub(super) async fn read(dir: &Path) -> io::Result<Option<u64>> {
    let file = dir.join(START);
    let decoded = match files::content(files::read_small(&file, FILE_BYTES as u64).await)? {
        Ok(None) => return Ok(None),
        Ok(Some(bytes)) => decode(&bytes).ok_or("it isn't what was written".to_owned()),
        Err(reason) => Err(reason),
    };
    let warn = |reason: &String| tracing::warn!(file = %file.display(), reason, "damaged: journals of any start count");
    Ok(decoded.inspect_err(warn).ok())
}

/// Begins another start, durably, once the journals of the last one are gone. Gives its id.
///
/// # Errors
/// The device's.
pub(super) async fn begin(dir: &Path, last: Option<u64>) -> io::Result<u64> {
    let id = rt::random_u64().max(1);
    match files::replace(&dir.join(START), encode(id)).await {
        Ok(()) => Ok(id),
        // The last one goes on: a full disk keeps no node from starting.
        Err(error) if is_full(&error) => Ok(last.unwrap_or(0)),
        Err(error) => Err(error),
    }
}

fn encode(id: u64) -> Bytes {
    let mut file = BytesMut::with_capacity(FILE_BYTES);
    file.put_slice(MAGIC);
    file.put_slice(&[KIND, VERSION, 0, 0]);
    file.put_u64(id);
    file.put_u32(crc32c::crc32c(&file));
    file.freeze()
}

/// The id in the file; `None` if it isn't what was written.
pub(crate) fn decode(file: &[u8]) -> Option<u64> {
    if file.len() != FILE_BYTES || &file[..4] != MAGIC || file[4..6] != [KIND, VERSION] {
        return None;
    }
    let (body, mut crc) = file.split_at(FILE_BYTES - 4);
    (crc.get_u32() == crc32c::crc32c(body)).then(|| (&body[8..]).get_u64())
}

#[cfg(test)]
mod tests;
