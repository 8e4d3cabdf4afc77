//! Making batches.

use bytes::Bytes;

use super::control::{ControlRecord, EndTxnMarker};
use super::header::{Attributes, BatchHeader, HEADER_BYTES, LENGTH_END, MAGIC, TimestampType};
use super::patch::write_crc;
use super::{Compression, Record, RecordsError, compress, varint};

/// Collects records and writes them as one batch.
///
/// Offset deltas count up from 0 unless a record says otherwise ([`push_record`](Self::push_record)), and the
/// base timestamp is the first record's. Lifecycle: settings, pushes, [`build`](Self::build).
/// ```
/// use protocol::records::{BatchBuilder, Compression, RecordBatch};
/// let mut batch = BatchBuilder::new().compression(Compression::Lz4);
/// batch.push(1_700_000_000_000, Some(b"key"), Some(b"value"), &[(&b"trace"[..], Some(&b"1"[..]))]);
/// let batch = RecordBatch::parse(batch.build()?)?;
/// assert_eq!(batch.header().records_count, 1);
/// # Ok::<(), protocol::records::RecordsError>(())
/// ```
#[derive(Debug, Clone)]
pub struct BatchBuilder {
    /// The header so far; lengths, counts and CRC come last.
    header: BatchHeader,
    level: Option<i32>,
    records: Vec<u8>,
    /// Set once the base timestamp is settled: by the first record, or by what a header said.
    has_base_timestamp: bool,
    /// A last offset to keep, though the last record may be gone.
    last_offset_delta_min: i32,
    too_large: bool,
}

impl Default for BatchBuilder {
    fn default() -> Self {
        Self::new()
    }
}

impl BatchBuilder {
    /// An empty batch as a producer sends it: offset 0, no leader epoch, no producer id, uncompressed.
    pub fn new() -> Self {
        let header = BatchHeader {
            base_offset: 0,
            batch_length: 0,
            partition_leader_epoch: -1,
            magic: MAGIC,
            crc: 0,
            attributes: Attributes::default(),
            last_offset_delta: -1,
            base_timestamp: -1,
            max_timestamp: -1,
            producer_id: -1,
            producer_epoch: -1,
            base_sequence: -1,
            records_count: 0,
        };
        Self {
            header,
            level: None,
            records: Vec::new(),
            has_base_timestamp: false,
            last_offset_delta_min: -1,
            too_large: false,
        }
    }

    /// A batch that keeps everything of `header` but its records: offsets (the last one too), leader epoch,
    /// attributes, base timestamp, producer. For rewriting a batch, in another codec or with fewer records.
    pub fn like(header: &BatchHeader) -> Self {
        let keep_time = header.attributes.timestamp_type() == TimestampType::LogAppendTime;
        let max_timestamp = if keep_time { header.max_timestamp } else { -1 };
        let emptied = BatchHeader { records_count: 0, max_timestamp, last_offset_delta: -1, ..*header };
        Self {
            header: emptied,
            has_base_timestamp: true,
            last_offset_delta_min: header.last_offset_delta,
            ..Self::new()
        }
    }

    /// Compresses the records with `codec`.
    pub fn compression(mut self, codec: Compression) -> Self {
        self.header.attributes = self.header.attributes.with_compression(codec);
        self
    }

    /// The codec's level, as of [`compress`].
    pub fn level(mut self, level: Option<i32>) -> Self {
        self.level = level;
        self
    }

    /// Offset of the first record.
    pub fn base_offset(mut self, base_offset: i64) -> Self {
        self.header.base_offset = base_offset;
        self
    }

    /// Epoch of the leader that appends it.
    pub fn leader_epoch(mut self, leader_epoch: i32) -> Self {
        self.header.partition_leader_epoch = leader_epoch;
        self
    }

    /// Producer id and epoch, and sequence of the first record (KIP-98).
    pub fn producer(mut self, id: i64, epoch: i16, base_sequence: i32) -> Self {
        self.header.producer_id = id;
        self.header.producer_epoch = epoch;
        self.header.base_sequence = base_sequence;
        self
    }

    /// Part of a transaction.
    pub fn transactional(mut self, on: bool) -> Self {
        self.header.attributes = self.header.attributes.with_transactional(on);
        self
    }

    /// Records of the log's own machinery, not data.
    pub fn control(mut self, on: bool) -> Self {
        self.header.attributes = self.header.attributes.with_control(on);
        self
    }

    /// Stamped by the broker's clock: `append_time_ms` is every record's timestamp.
    pub fn log_append_time(mut self, append_time_ms: i64) -> Self {
        self.header.attributes = self.header.attributes.with_timestamp_type(TimestampType::LogAppendTime);
        self.header.max_timestamp = append_time_ms;
        self
    }

    /// Sets the delete horizon (KIP-534). Records pushed later keep their own timestamps.
    pub fn delete_horizon(mut self, horizon_ms: i64) -> Self {
        self.header.attributes = self.header.attributes.with_delete_horizon(true);
        self.header.base_timestamp = horizon_ms;
        self.has_base_timestamp = true;
        self
    }

    /// The batch that ends a producer's transaction in a partition, with the one marker it holds.
    pub fn end_txn_marker(
        producer_id: i64,
        producer_epoch: i16,
        commit: bool,
        coordinator_epoch: i32,
        now_ms: i64,
    ) -> Self {
        let kind = if commit { ControlRecord::Commit } else { ControlRecord::Abort };
        let mut batch =
            Self::new().producer(producer_id, producer_epoch, -1).transactional(true).control(true);
        batch.push(now_ms, Some(&kind.key()), Some(&EndTxnMarker { coordinator_epoch }.value()), &[]);
        batch
    }

    /// How many records there are.
    pub fn len(&self) -> usize {
        self.header.records_count as usize
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.header.records_count == 0
    }

    /// The batch's length if it were built uncompressed, in bytes.
    pub fn uncompressed_bytes(&self) -> usize {
        HEADER_BYTES + self.records.len()
    }

    /// Adds a record at the next offset. Costs the copy of its bytes.
    pub fn push(
        &mut self,
        timestamp_ms: i64,
        key: Option<&[u8]>,
        value: Option<&[u8]>,
        headers: &[(&[u8], Option<&[u8]>)],
    ) {
        let next_delta = i64::from(self.header.last_offset_delta) + 1;
        self.add(0, timestamp_ms, next_delta, key, value, headers.iter().copied());
    }

    /// Adds `record` at its own offset, which must be above the last one's.
    pub fn push_record(&mut self, record: &Record) {
        let delta = record.offset.wrapping_sub(self.header.base_offset);
        let headers = record.headers.iter().map(|header| (&header.key[..], header.value.as_deref()));
        let (key, value) = (record.key.as_deref(), record.value.as_deref());
        self.add(record.attributes, record.timestamp, delta, key, value, headers);
    }

    fn add<'a>(
        &mut self,
        attributes: i8,
        timestamp_ms: i64,
        offset_delta: i64,
        key: Option<&[u8]>,
        value: Option<&[u8]>,
        headers: impl ExactSizeIterator<Item = (&'a [u8], Option<&'a [u8]>)> + Clone,
    ) {
        if !self.has_base_timestamp {
            self.header.base_timestamp = timestamp_ms;
            self.has_base_timestamp = true;
        }
        let head = Head {
            attributes,
            timestamp_delta: timestamp_ms.wrapping_sub(self.header.base_timestamp),
            offset_delta,
        };
        write_record(&mut self.records, &head, key, value, headers);
        self.too_large |= self.records.len() > RECORDS_BYTES_MAX || i32::try_from(offset_delta).is_err();
        self.header.last_offset_delta = offset_delta as i32;
        self.header.records_count = self.header.records_count.saturating_add(1);
        if self.header.attributes.timestamp_type() == TimestampType::CreateTime {
            self.header.max_timestamp = self.header.max_timestamp.max(timestamp_ms);
        }
    }

    /// Writes the batch.
    ///
    /// # Errors
    /// `TooLarge`, `Compress`.
    pub fn build(mut self) -> Result<Bytes, RecordsError> {
        if self.too_large {
            return Err(RecordsError::TooLarge);
        }
        let codec = self.header.attributes.compression()?;
        let block = match codec {
            Compression::None => self.records,
            codec => compress(codec, self.level, &self.records)?,
        };
        let length = HEADER_BYTES - LENGTH_END + block.len();
        self.header.batch_length = i32::try_from(length).map_err(|_| RecordsError::TooLarge)?;
        self.header.last_offset_delta = self.header.last_offset_delta.max(self.last_offset_delta_min);
        let mut batch = Vec::with_capacity(HEADER_BYTES + block.len());
        let mut head = [0; HEADER_BYTES];
        self.header.write_to(&mut head);
        batch.extend_from_slice(&head);
        batch.extend_from_slice(&block);
        write_crc(&mut batch);
        Ok(Bytes::from(batch))
    }
}

/// Room for the header within an i32.
const RECORDS_BYTES_MAX: usize = i32::MAX as usize - HEADER_BYTES;

struct Head {
    attributes: i8,
    timestamp_delta: i64,
    offset_delta: i64,
}

fn write_record<'a>(
    out: &mut Vec<u8>,
    head: &Head,
    key: Option<&[u8]>,
    value: Option<&[u8]>,
    headers: impl ExactSizeIterator<Item = (&'a [u8], Option<&'a [u8]>)> + Clone,
) {
    let header_count = headers.len() as i64;
    let header_bytes: usize =
        headers.clone().map(|(key, value)| nullable_len(Some(key)) + nullable_len(value)).sum();
    let length = 1
        + varint::len(head.timestamp_delta)
        + varint::len(head.offset_delta)
        + nullable_len(key)
        + nullable_len(value)
        + varint::len(header_count)
        + header_bytes;
    varint::put(out, length as i64);
    out.push(head.attributes as u8);
    varint::put(out, head.timestamp_delta);
    varint::put(out, head.offset_delta);
    put_nullable(out, key);
    put_nullable(out, value);
    varint::put(out, header_count);
    for (key, value) in headers {
        put_nullable(out, Some(key));
        put_nullable(out, value);
    }
}

fn nullable_len(bytes: Option<&[u8]>) -> usize {
    bytes.map_or(1, |bytes| varint::len(bytes.len() as i64) + bytes.len())
}

fn put_nullable(out: &mut Vec<u8>, bytes: Option<&[u8]>) {
    varint::put(out, bytes.map_or(-1, |bytes| bytes.len() as i64));
    out.extend_from_slice(bytes.unwrap_or_default());
}
