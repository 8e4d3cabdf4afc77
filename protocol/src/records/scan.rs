//! Several batches in a row: fetched data, a segment's bytes.

use bytes::Bytes;

use super::{BatchHeader, RecordBatch, RecordsError, batch_bytes};

/// The whole batches at the front of some bytes, each checked. Ends silently at a trailing partial batch,
/// which a fetch may legally end with (KIP-74), and after the first error.
#[derive(Debug, Clone)]
pub struct BatchScan {
    rest: Bytes,
    failed: bool,
}

impl BatchScan {
    /// Scans `bytes` from the front.
    pub fn new(bytes: Bytes) -> Self {
        Self { rest: bytes, failed: false }
    }

    /// What hasn't been read: after the end, the partial batch.
    pub fn rest(&self) -> &Bytes {
        &self.rest
    }
}

impl Iterator for BatchScan {
    type Item = Result<RecordBatch, RecordsError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.failed {
            return None;
        }
        match RecordBatch::split_from(&mut self.rest) {
            Ok(batch) => Some(Ok(batch)),
            Err(RecordsError::Truncated { .. }) => None,
            Err(error) => {
                self.failed = true;
                Some(Err(error))
            }
        }
    }
}

/// Headers of the batches in some bytes, stepping by their lengths, with each batch's position; touches 61
/// bytes a batch and checks no CRC. Ends silently where the next batch isn't whole, and after the first
/// error.
#[derive(Debug, Clone)]
pub struct HeaderScan<'a> {
    bytes: &'a [u8],
    at: usize,
    failed: bool,
}

impl<'a> HeaderScan<'a> {
    /// Scans `bytes` from the front.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0, failed: false }
    }

    /// Position of the next batch: after the end, how many bytes whole batches took.
    pub fn position(&self) -> usize {
        self.at
    }

    fn step(&mut self) -> Result<Option<(usize, BatchHeader)>, RecordsError> {
        let rest = &self.bytes[self.at..];
        match batch_bytes(rest)? {
            Some(total) if total <= rest.len() => {
                let found = (self.at, BatchHeader::parse(rest)?);
                self.at += total;
                Ok(Some(found))
            }
            _ => Ok(None),
        }
    }
}

impl Iterator for HeaderScan<'_> {
    type Item = Result<(usize, BatchHeader), RecordsError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.failed {
            return None;
        }
        let step = self.step().transpose();
        self.failed = matches!(step, Some(Err(_)));
        step
    }
}
