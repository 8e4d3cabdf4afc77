//! The batches of a file, one after another, damaged ones told.

use std::path::Path;

use bytes::Bytes;
use protocol::records::{HEADER_BYTES, PREFIX_BYTES, RecordBatch, RecordsError, batch_bytes};

use super::input::Stream;
use crate::cli::error::CliError;

/// What stands at a position of a file of batches.
#[derive(Debug)]
pub(super) enum Found {
    /// A whole batch whose CRC holds.
    Batch(RecordBatch),
    /// As many bytes as a batch has, but it is none.
    Damaged(RecordsError),
    /// What isn't even the start of a batch; nothing is read behind it.
    Garbage(String),
    /// A batch that the file ends in.
    Torn {
        /// Bytes the batch has.
        need: u64,
        /// Bytes there are.
        have: u64,
    },
    /// So many zeros up to the end: space that was taken ahead.
    Zeros(u64),
}

/// Largest batch read, in bytes: a length beyond it is damage.
pub(super) const BATCH_BYTES_MAX: usize = 256 << 20;

/// Goes through a file of batches; one batch in memory at a time.
#[derive(Debug)]
pub(super) struct Batches {
    stream: Stream,
    at: u64,
    ended: bool,
}

impl Batches {
    pub(super) fn open(path: &Path) -> Result<Self, CliError> {
        Ok(Self { stream: Stream::open(path)?, at: 0, ended: false })
    }

    fn step(&mut self) -> std::io::Result<Option<(u64, Found)>> {
        let (at, left) = (self.at, self.stream.bytes.saturating_sub(self.at));
        if left == 0 {
            return Ok(None);
        }
        let mut bytes = self.stream.take(PREFIX_BYTES)?;
        let need = match batch_bytes(&bytes) {
            Ok(Some(need)) if need <= BATCH_BYTES_MAX => need,
            Ok(Some(need)) => {
                return Ok(Some((at, self.end(Found::Garbage(format!("a batch of {need} bytes"))))));
            }
            Ok(None) if bytes.iter().any(|byte| *byte != 0) => {
                let found = Found::Torn { need: HEADER_BYTES as u64, have: left };
                return Ok(Some((at, self.end(found))));
            }
            Ok(None) => return Ok(Some((at, self.end(Found::Zeros(left))))),
            Err(error) => {
                let zeros = bytes.iter().all(|byte| *byte == 0) && self.stream.rest_is_zero()?;
                let found = if zeros { Found::Zeros(left) } else { Found::Garbage(error.to_string()) };
                return Ok(Some((at, self.end(found))));
            }
        };
        if need as u64 > left {
            return Ok(Some((at, self.end(Found::Torn { need: need as u64, have: left }))));
        }
        bytes.extend(self.stream.take(need - PREFIX_BYTES)?);
        self.at += need as u64;
        Ok(Some((at, RecordBatch::parse(Bytes::from(bytes)).map_or_else(Found::Damaged, Found::Batch))))
    }

    fn end(&mut self, found: Found) -> Found {
        self.ended = true;
        found
    }
}

impl Iterator for Batches {
    /// Position in the file, and what stands there.
    type Item = (u64, Found);

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        match self.step() {
            Ok(found) => found,
            Err(error) => Some((self.at, self.end(Found::Garbage(format!("it can't be read: {error}"))))),
        }
    }
}
