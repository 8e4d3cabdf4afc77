//! Going over a batch's records without building any.

use super::compression::Decompressor;
use super::header::{BatchHeader, HEADER_BYTES, TimestampType};
use super::varint::{self, VARLONG_BYTES_MAX};
use super::{Compression, RecordsError};

/// What a walk tells of each record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WalkedRecord {
    /// Position in the batch, from 0.
    pub index: u32,
    /// Offset less the batch's base offset.
    pub offset_delta: i32,
    /// In ms since 1970; the batch's append time if the broker's clock stamped it.
    pub timestamp: i64,
    /// Whether the key is there (an empty one is).
    pub has_key: bool,
    /// Whether the value is there; without it the record is a tombstone.
    pub has_value: bool,
}

/// What a walk tells of the whole batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Walked {
    /// How many records there are.
    pub records: u32,
    /// Length of the records block, decompressed, in bytes.
    pub block_bytes: u64,
    /// The largest timestamp, in ms since 1970; -1 without records.
    pub max_timestamp: i64,
    /// Offset delta of the first record that has it.
    pub max_timestamp_offset_delta: i32,
}

/// Walks the records of the whole batch in `bytes`; see [`super::RecordBatch::walk`].
pub(crate) fn walk(
    header: &BatchHeader,
    bytes: &[u8],
    decompressed_max: u64,
    each: impl FnMut(WalkedRecord),
) -> Result<Walked, RecordsError> {
    let block = &bytes[HEADER_BYTES..];
    match header.attributes.compression()? {
        Compression::None => walk_source(header, Slice { rest: block, len: block.len() }, each),
        codec => {
            let stream = Decompressor::new(codec, block, decompressed_max)?;
            walk_source(
                header,
                Stream { from: stream, window: vec![0; WINDOW_BYTES], at: 0, end: 0, taken: 0 },
                each,
            )
        }
    }
}

/// Decompressed bytes held at once.
const WINDOW_BYTES: usize = 16 * 1024;

/// What a walk stumbled over; small, as the loop returns it through every step.
enum Fault {
    Record(&'static str),
    Stream(Box<RecordsError>),
}

impl Fault {
    #[cold]
    fn at(self, index: u32) -> RecordsError {
        match self {
            Self::Record(what) => RecordsError::MalformedRecord { index, what },
            Self::Stream(error) => *error,
        }
    }
}

impl From<RecordsError> for Fault {
    #[cold]
    fn from(error: RecordsError) -> Self {
        Self::Stream(Box::new(error))
    }
}

/// Where record bytes come from; monomorphised, so that the uncompressed walk is a plain loop over a slice.
trait Source {
    /// Takes one varint; `Ok(None)` if there is none.
    fn varint(&mut self) -> Result<Option<i64>, Fault>;
    /// Passes over `len` bytes; false if there are fewer.
    fn skip(&mut self, len: u64) -> Result<bool, Fault>;
    /// Bytes taken so far.
    fn taken(&self) -> u64;
    /// Whether nothing is left.
    fn at_end(&mut self) -> Result<bool, Fault>;
}

struct Slice<'a> {
    rest: &'a [u8],
    len: usize,
}

impl Source for Slice<'_> {
    #[inline(always)]
    fn varint(&mut self) -> Result<Option<i64>, Fault> {
        let Some((value, len)) = varint::get(self.rest) else { return Ok(None) };
        self.rest = &self.rest[len..];
        Ok(Some(value))
    }

    #[inline(always)]
    fn skip(&mut self, len: u64) -> Result<bool, Fault> {
        if len > self.rest.len() as u64 {
            return Ok(false);
        }
        self.rest = &self.rest[len as usize..];
        Ok(true)
    }

    #[inline(always)]
    fn taken(&self) -> u64 {
        (self.len - self.rest.len()) as u64
    }

    fn at_end(&mut self) -> Result<bool, Fault> {
        Ok(self.rest.is_empty())
    }
}

struct Stream<'a> {
    from: Decompressor<&'a [u8]>,
    window: Vec<u8>,
    at: usize,
    end: usize,
    taken: u64,
}

impl Stream<'_> {
    /// Moves what is left to the front and reads until `want` bytes are there or the stream ends.
    fn refill(&mut self, want: usize) -> Result<(), Fault> {
        self.window.copy_within(self.at..self.end, 0);
        self.end -= self.at;
        self.at = 0;
        while self.end < want {
            match self.from.read_some(&mut self.window[self.end..])? {
                0 => break,
                read => self.end += read,
            }
        }
        Ok(())
    }
}

impl Source for Stream<'_> {
    #[inline]
    fn varint(&mut self) -> Result<Option<i64>, Fault> {
        if self.end - self.at < VARLONG_BYTES_MAX {
            self.refill(VARLONG_BYTES_MAX)?;
        }
        let Some((value, len)) = varint::get(&self.window[self.at..self.end]) else { return Ok(None) };
        self.at += len;
        self.taken += len as u64;
        Ok(Some(value))
    }

    fn skip(&mut self, len: u64) -> Result<bool, Fault> {
        let mut left = len;
        loop {
            let step = left.min((self.end - self.at) as u64);
            self.at += step as usize;
            left -= step;
            if left == 0 {
                self.taken += len;
                return Ok(true);
            }
            self.refill(1)?;
            if self.end == 0 {
                return Ok(false);
            }
        }
    }

    #[inline]
    fn taken(&self) -> u64 {
        self.taken
    }

    fn at_end(&mut self) -> Result<bool, Fault> {
        if self.at == self.end {
            self.refill(1)?;
        }
        Ok(self.at == self.end)
    }
}

fn walk_source(
    header: &BatchHeader,
    mut source: impl Source,
    mut each: impl FnMut(WalkedRecord),
) -> Result<Walked, RecordsError> {
    let count = u32::try_from(header.records_count)
        .map_err(|_| RecordsError::Inconsistent("negative record count"))?;
    let append_time =
        (header.attributes.timestamp_type() == TimestampType::LogAppendTime).then_some(header.max_timestamp);
    let mut walked =
        Walked { records: count, block_bytes: 0, max_timestamp: -1, max_timestamp_offset_delta: -1 };
    let mut previous_delta = -1;
    for index in 0..count {
        let mut record = one(&mut source, index, header.base_timestamp).map_err(|fault| fault.at(index))?;
        if let Some(append_time) = append_time {
            record.timestamp = append_time;
        }
        if record.offset_delta <= previous_delta {
            return Err(RecordsError::MalformedRecord {
                index,
                what: "its offset doesn't follow the last one's",
            });
        }
        previous_delta = record.offset_delta;
        if record.timestamp > walked.max_timestamp {
            walked.max_timestamp = record.timestamp;
            walked.max_timestamp_offset_delta = record.offset_delta;
        }
        each(record);
    }
    if previous_delta > header.last_offset_delta {
        return Err(RecordsError::Inconsistent("a record's offset lies beyond the batch's last offset"));
    }
    if !source.at_end().map_err(|fault| fault.at(count))? {
        return Err(RecordsError::Inconsistent("bytes follow the last record"));
    }
    walked.block_bytes = source.taken();
    Ok(walked)
}

/// Passes over one record.
#[inline(always)]
fn one(source: &mut impl Source, index: u32, base_timestamp: i64) -> Result<WalkedRecord, Fault> {
    let length = int(source)?;
    let start = source.taken();
    if length < 0 || !source.skip(1)? {
        return Err(Fault::Record("it ends before its attributes"));
    }
    let timestamp_delta = source.varint()?.ok_or(Fault::Record("its timestamp is missing or too long"))?;
    let offset_delta = int(source)?;
    let has_key = skip_nullable(source)?;
    let has_value = skip_nullable(source)?;
    skip_headers(source)?;
    if source.taken() - start != length as u64 {
        return Err(Fault::Record("its length doesn't match its fields"));
    }
    let timestamp = base_timestamp.wrapping_add(timestamp_delta);
    Ok(WalkedRecord { index, offset_delta, timestamp, has_key, has_value })
}

#[inline(always)]
fn skip_headers(source: &mut impl Source) -> Result<(), Fault> {
    let headers = int(source)?;
    if headers < 0 {
        return Err(Fault::Record("its header count is negative"));
    }
    // A false count ends with the bytes: every header takes two of them.
    for _ in 0..headers {
        if !skip_nullable(source)? {
            return Err(Fault::Record("a header's key is null"));
        }
        skip_nullable(source)?;
    }
    Ok(())
}

#[inline(always)]
fn int(source: &mut impl Source) -> Result<i32, Fault> {
    let value = source.varint()?.ok_or(Fault::Record("it ends early, or a number in it is too long"))?;
    i32::try_from(value).map_err(|_| Fault::Record("a number in it exceeds 32 bits"))
}

/// Passes over a length and so many bytes; false for null.
#[inline(always)]
fn skip_nullable(source: &mut impl Source) -> Result<bool, Fault> {
    let len = int(source)?;
    if len < -1 {
        return Err(Fault::Record("a length in it is negative"));
    }
    if len > 0 && !source.skip(len as u64)? {
        return Err(Fault::Record("it ends within a field"));
    }
    Ok(len >= 0)
}
