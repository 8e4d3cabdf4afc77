//! Records that can be told apart: who made them, for which partition, and the how manyth it is.

use std::fmt;

use bytes::Bytes;
use protocol::records::{BatchBuilder, Compression, Record, RecordBatch};
use protocol::types::Records;

/// A record's name. No two records of a run have the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct RecordId {
    /// Number of the producer that made it.
    pub(crate) producer: u16,
    /// Counts the producer's records, from 0.
    pub(crate) number: u64,
}

impl fmt::Display for RecordId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "p{}/{}", self.producer, self.number)
    }
}

/// Bytes of a name within a value.
const NAME_BYTES: usize = 10;

impl RecordId {
    fn value(self, bytes: usize) -> Vec<u8> {
        let mut value = vec![self.number as u8; bytes.max(NAME_BYTES)];
        value[..2].copy_from_slice(&self.producer.to_be_bytes());
        value[2..NAME_BYTES].copy_from_slice(&self.number.to_be_bytes());
        value
    }

    /// The name of a record that was read.
    pub(crate) fn of(record: &Record) -> RecordId {
        let value = record.value.as_ref().expect("every record was made with a value");
        let (producer, rest) = value.split_first_chunk().expect("with a name");
        let number = rest.first_chunk().expect("of all its bytes");
        RecordId { producer: u16::from_be_bytes(*producer), number: u64::from_be_bytes(*number) }
    }
}

/// A batch of the records `first`, `first + 1`, ..., each of about `value_bytes`.
pub(crate) fn make(
    first: RecordId,
    count: u32,
    value_bytes: usize,
    codec: Compression,
    producer: (i64, i16, i32),
) -> Bytes {
    named(rt::unix_ms(), first, count, value_bytes, codec, producer)
}

/// As [`make`], with this timestamp.
pub(crate) fn named(
    timestamp_ms: i64,
    first: RecordId,
    count: u32,
    value_bytes: usize,
    codec: Compression,
    producer: (i64, i16, i32),
) -> Bytes {
    let (id, epoch, sequence) = producer;
    let mut builder = BatchBuilder::new().compression(codec).producer(id, epoch, sequence);
    for at in 0..u64::from(count) {
        let name = RecordId { number: first.number + at, ..first };
        builder.push(timestamp_ms, None, Some(&name.value(value_bytes)), &[]);
    }
    builder.build().expect("small records can be written")
}

/// The batches of an answer. Each is whole, and its CRC holds.
pub(crate) fn split(records: &Records) -> Vec<RecordBatch> {
    let mut rest = records.to_bytes();
    let mut batches = Vec::new();
    while !rest.is_empty() {
        batches.push(RecordBatch::split_from(&mut rest).expect("the broker sends whole batches"));
    }
    batches
}
