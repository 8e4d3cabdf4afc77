//! A batch whose records are all alike, made once.

use protocol::records::{
    BatchBuilder, BatchHeader, CRC_START, HEADER_BYTES, LENGTH_END, RecordBatch, RecordsError,
};

use super::maker::Origin;

/// An uncompressed batch of records of one size without keys. Since each record stands at the same place in
/// every batch, a new batch is a copy with new stamps, a new header and a new checksum; a shorter batch is the
/// front of a longer one.
#[derive(Debug, Clone)]
pub(crate) struct Template {
    bytes: Vec<u8>,
    header: BatchHeader,
    /// Where each record's value begins.
    values: Vec<u32>,
    /// Where each record ends.
    ends: Vec<u32>,
    value_bytes: usize,
}

/// Records of a template: what one request of the largest size holds of the smallest records.
const RECORDS_MAX: usize = 4_000_000;

impl Template {
    /// As many records of `value` as fit into `batch_bytes`, one at least.
    pub(crate) fn new(value: &[u8], batch_bytes: usize) -> Result<Self, RecordsError> {
        let mut builder = BatchBuilder::new();
        let (mut values, mut ends) = (Vec::new(), Vec::new());
        loop {
            builder.push(0, None, Some(value), &[]);
            let end = builder.uncompressed_bytes();
            if (end > batch_bytes && !ends.is_empty()) || ends.len() == RECORDS_MAX {
                break;
            }
            // A record ends with its value and the count of its headers, which is one byte for none.
            values.push((end - 1 - value.len()) as u32);
            ends.push(end as u32);
        }
        let bytes = builder.build()?.to_vec();
        let header = BatchHeader::parse(&bytes)?;
        Ok(Self { bytes, header, values, ends, value_bytes: value.len() })
    }

    /// Records of a full batch.
    pub(crate) fn records_max(&self) -> u32 {
        self.ends.len() as u32
    }

    /// Bytes of a batch of so many records.
    pub(crate) fn bytes_of(&self, records: u32) -> usize {
        self.ends[records as usize - 1] as usize
    }

    /// A batch of `records`, `timestamp_ms` old, of the given origin; `stamp` writes each value. Costs a copy,
    /// the stamps, and one pass of hardware CRC.
    pub(crate) fn batch(
        &self,
        records: u32,
        timestamp_ms: i64,
        origin: Origin,
        mut stamp: impl FnMut(usize, &mut [u8]),
    ) -> Vec<u8> {
        let mut bytes = self.bytes[..self.bytes_of(records)].to_vec();
        for (index, at) in self.values[..records as usize].iter().enumerate() {
            let at = *at as usize;
            stamp(index, &mut bytes[at..at + self.value_bytes]);
        }
        let header = BatchHeader {
            batch_length: (bytes.len() - LENGTH_END) as i32,
            last_offset_delta: records as i32 - 1,
            base_timestamp: timestamp_ms,
            max_timestamp: timestamp_ms,
            records_count: records as i32,
            ..self.header
        };
        write_header(&mut bytes, origin.on(header));
        bytes
    }
}

/// Writes a header over the one there, with the checksum of what it then covers.
pub(crate) fn write_header(bytes: &mut [u8], mut header: BatchHeader) {
    let Some(head) = bytes.first_chunk_mut::<HEADER_BYTES>() else { return };
    header.write_to(head);
    header.crc = crc32c::crc32c(&bytes[CRC_START..]);
    if let Some(head) = bytes.first_chunk_mut::<HEADER_BYTES>() {
        header.write_to(head);
    }
    debug_assert!(RecordBatch::parse(bytes.to_vec().into()).is_ok(), "a header that doesn't fit its batch");
}
