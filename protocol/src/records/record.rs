//! Records as objects, for those who need their content.

use bytes::buf::Reader;
use bytes::{Buf, Bytes, BytesMut};

use super::compression::Decompressor;
use super::header::{BatchHeader, TimestampType};
use super::varint::{self, VARLONG_BYTES_MAX};
use super::{Compression, RecordBatch, RecordsError};

/// One record. Its bytes share the batch's (or the decompressed block's) allocation.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Record {
    /// Unused by Kafka so far.
    pub attributes: i8,
    /// In ms since 1970; the append time if the broker's clock stamped the batch.
    pub timestamp: i64,
    /// Offset in the partition, by the batch's base offset.
    pub offset: i64,
    /// Key, null or empty allowed.
    pub key: Option<Bytes>,
    /// Value; null is a tombstone.
    pub value: Option<Bytes>,
    /// Headers (KIP-82) in order; a key may stand several times.
    pub headers: Vec<RecordHeader>,
}

/// A record's header.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RecordHeader {
    /// Key: UTF-8 by convention, but nothing enforces it.
    pub key: Bytes,
    /// Value, null or empty allowed.
    pub value: Option<Bytes>,
}

/// The records of a batch, in order. Ends after the first error.
#[derive(Debug)]
pub struct RecordIter {
    header: BatchHeader,
    blocks: Result<Blocks, RecordsError>,
    index: u32,
    count: u32,
}

/// Where a record's bytes come from.
#[derive(Debug)]
enum Blocks {
    Plain(Bytes),
    Compressed { from: Box<Decompressor<Reader<Bytes>>>, buffer: BytesMut },
}

/// Decompressed bytes read at once.
const READ_BYTES: usize = 16 * 1024;
/// Headers for which room is made ahead; a record's claim of more is believed only as they come.
const HEADERS_AHEAD_MAX: usize = 16;

impl RecordIter {
    pub(crate) fn new(batch: &RecordBatch, decompressed_max: u64) -> Self {
        let header = *batch.header();
        let blocks = Blocks::new(batch, decompressed_max);
        Self { header, blocks, index: 0, count: u32::try_from(header.records_count).unwrap_or(0) }
    }

    fn read_one(&mut self) -> Result<Record, RecordsError> {
        let index = self.index;
        let bytes = match &mut self.blocks {
            Ok(blocks) => blocks.next_record(index)?,
            Err(error) => return Err(error.clone()),
        };
        let mut record = Fields { rest: bytes, index }.record(&self.header)?;
        if self.header.attributes.timestamp_type() == TimestampType::LogAppendTime {
            record.timestamp = self.header.max_timestamp;
        }
        Ok(record)
    }
}

impl Iterator for RecordIter {
    type Item = Result<Record, RecordsError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.index >= self.count {
            return None;
        }
        let record = self.read_one();
        self.index = if record.is_ok() { self.index + 1 } else { self.count };
        Some(record)
    }
}

impl Blocks {
    fn new(batch: &RecordBatch, decompressed_max: u64) -> Result<Self, RecordsError> {
        let block = batch.records_block();
        match batch.header().attributes.compression()? {
            Compression::None => Ok(Self::Plain(block)),
            codec => {
                let from = Box::new(Decompressor::new(codec, block.reader(), decompressed_max)?);
                Ok(Self::Compressed { from, buffer: BytesMut::new() })
            }
        }
    }

    /// Takes the next record's bytes, its length field gone.
    fn next_record(&mut self, index: u32) -> Result<Bytes, RecordsError> {
        self.want(VARLONG_BYTES_MAX)?;
        let malformed = |what| RecordsError::MalformedRecord { index, what };
        let (length, prefix) =
            varint::get(self.at_hand()).ok_or_else(|| malformed("its length is missing or too long"))?;
        let length = i32::try_from(length).ok().and_then(|length| usize::try_from(length).ok());
        let length = length.ok_or_else(|| malformed("its length is impossible"))?;
        self.want(prefix + length)?;
        if self.at_hand().len() < prefix + length {
            return Err(malformed("it ends early"));
        }
        Ok(match self {
            Self::Plain(rest) => {
                rest.advance(prefix);
                rest.split_to(length)
            }
            Self::Compressed { buffer, .. } => {
                buffer.advance(prefix);
                buffer.split_to(length).freeze()
            }
        })
    }

    fn at_hand(&self) -> &[u8] {
        match self {
            Self::Plain(rest) => rest,
            Self::Compressed { buffer, .. } => buffer,
        }
    }

    /// Decompresses until `want` bytes are at hand or the block ends; grows only as data come.
    fn want(&mut self, want: usize) -> Result<(), RecordsError> {
        let Self::Compressed { from, buffer } = self else { return Ok(()) };
        while buffer.len() < want {
            let len = buffer.len();
            buffer.resize(len + READ_BYTES, 0);
            let read = from.read_some(&mut buffer[len..])?;
            buffer.truncate(len + read);
            if read == 0 {
                break;
            }
        }
        Ok(())
    }
}

/// Reads the fields of one record.
struct Fields {
    rest: Bytes,
    index: u32,
}

impl Fields {
    fn record(mut self, header: &BatchHeader) -> Result<Record, RecordsError> {
        if self.rest.is_empty() {
            return Err(self.malformed("it ends before its attributes"));
        }
        let attributes = self.rest.get_i8();
        let timestamp = header.base_timestamp.wrapping_add(self.long()?);
        let offset = header.base_offset.wrapping_add(i64::from(self.int()?));
        let (key, value) = (self.nullable()?, self.nullable()?);
        let headers = self.headers()?;
        if !self.rest.is_empty() {
            return Err(self.malformed("its length doesn't match its fields"));
        }
        Ok(Record { attributes, timestamp, offset, key, value, headers })
    }

    fn headers(&mut self) -> Result<Vec<RecordHeader>, RecordsError> {
        let count =
            usize::try_from(self.int()?).map_err(|_| self.malformed("its header count is negative"))?;
        let mut headers = Vec::with_capacity(count.min(HEADERS_AHEAD_MAX));
        for _ in 0..count {
            let key = self.nullable()?.ok_or_else(|| self.malformed("a header's key is null"))?;
            headers.push(RecordHeader { key, value: self.nullable()? });
        }
        Ok(headers)
    }

    fn long(&mut self) -> Result<i64, RecordsError> {
        let (value, len) =
            varint::get(&self.rest).ok_or_else(|| self.malformed("a number in it is missing or too long"))?;
        self.rest.advance(len);
        Ok(value)
    }

    fn int(&mut self) -> Result<i32, RecordsError> {
        i32::try_from(self.long()?).map_err(|_| self.malformed("a number in it exceeds 32 bits"))
    }

    fn nullable(&mut self) -> Result<Option<Bytes>, RecordsError> {
        match self.int()? {
            -1 => Ok(None),
            len if len < 0 => Err(self.malformed("a length in it is negative")),
            len if len as usize > self.rest.len() => Err(self.malformed("it ends within a field")),
            len => Ok(Some(self.rest.split_to(len as usize))),
        }
    }

    fn malformed(&self, what: &'static str) -> RecordsError {
        RecordsError::MalformedRecord { index: self.index, what }
    }
}
