//! A batch whose lengths and CRC are known to hold.

use bytes::Bytes;

use super::header::{BatchHeader, CRC_START, HEADER_BYTES, batch_bytes};
use super::record::RecordIter;
use super::walk::{Walked, WalkedRecord, walk};
use super::{DECOMPRESSED_BYTES_MAX, RecordsError};

/// One whole record batch: a cheap, shared view over the bytes as they came.
///
/// It exists only if the length field matches the bytes, the format is version 2, the codec is known and the
/// CRC-32C holds, so none of these is asked again. Its records may still be malformed: [`walk`](Self::walk)
/// and [`records`](Self::records) tell. Building it costs one pass of hardware CRC (some 10 GB/s) and copies
/// nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordBatch {
    bytes: Bytes,
    header: BatchHeader,
}

impl RecordBatch {
    /// Takes `bytes` as exactly one batch.
    ///
    /// # Errors
    /// `TrailingBytes`, and those of [`split_from`](Self::split_from).
    pub fn parse(mut bytes: Bytes) -> Result<Self, RecordsError> {
        let batch = Self::split_from(&mut bytes)?;
        if bytes.is_empty() { Ok(batch) } else { Err(RecordsError::TrailingBytes(bytes.len())) }
    }

    /// Takes the batch at the front off `bytes`; on an error `bytes` stays as it was.
    ///
    /// # Errors
    /// `Truncated`, `BadLength`, `UnsupportedMagic`, `UnknownCompression`, `BadCrc`.
    pub fn split_from(bytes: &mut Bytes) -> Result<Self, RecordsError> {
        let need = batch_bytes(bytes)?.unwrap_or(HEADER_BYTES);
        if bytes.len() < need {
            return Err(RecordsError::Truncated { need, have: bytes.len() });
        }
        let header = BatchHeader::parse(bytes)?;
        let computed = crc32c::crc32c(&bytes[CRC_START..need]);
        if computed != header.crc {
            return Err(RecordsError::BadCrc { stored: header.crc, computed });
        }
        header.attributes.compression()?;
        Ok(Self { bytes: bytes.split_to(need), header })
    }

    /// The header.
    pub fn header(&self) -> &BatchHeader {
        &self.header
    }

    /// The whole batch as it came.
    pub fn bytes(&self) -> &Bytes {
        &self.bytes
    }

    /// The whole batch as it came, without another reference.
    pub fn into_bytes(self) -> Bytes {
        self.bytes
    }

    /// The block after the header, compressed if a codec is set.
    pub fn records_block(&self) -> Bytes {
        self.bytes.slice(HEADER_BYTES..)
    }

    /// The batch's length in bytes.
    pub fn total_bytes(&self) -> usize {
        self.bytes.len()
    }

    /// The records, with [`DECOMPRESSED_BYTES_MAX`] as the limit.
    pub fn records(&self) -> RecordIter {
        self.records_within(DECOMPRESSED_BYTES_MAX)
    }

    /// The records, decompressing at most `decompressed_max` bytes. Zero-copy if uncompressed; otherwise one
    /// allocation for some tens of KiB of records, which the keys and values then share.
    pub fn records_within(&self, decompressed_max: u64) -> RecordIter {
        RecordIter::new(self, decompressed_max)
    }

    /// Goes over the records without building any (~8 ns each, plus decompression): checks that they are
    /// well-formed, as many as the header says, with rising offset deltas up to the last one; calls `each`
    /// for each.
    ///
    /// # Errors
    /// `MalformedRecord`, `Inconsistent`, `Decompress`, `DecompressedTooLarge`.
    pub fn walk(
        &self,
        decompressed_max: u64,
        each: impl FnMut(WalkedRecord),
    ) -> Result<Walked, RecordsError> {
        walk(&self.header, &self.bytes, decompressed_max, each)
    }
}
