//! Whether what a producer sent may be appended, as Kafka's LogValidator decides it.

use std::fmt;

use bytes::Bytes;

use super::header::TimestampType;
use super::patch::patch_timestamp;
use super::walk::WalkedRecord;
use super::{BatchHeader, Compression, DECOMPRESSED_BYTES_MAX, RecordBatch, RecordsError, recompress};
use crate::error::ErrorCode;

/// What a topic and a request version ask of a batch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProduceRules {
    /// Whether the topic is compacted: every record then needs a key.
    pub compacted: bool,
    /// `message.timestamp.type`.
    pub timestamp_type: TimestampType,
    /// `message.timestamp.before.max.ms` (KIP-937): how far before now a record's timestamp may lie.
    pub timestamp_before_max_ms: i64,
    /// `message.timestamp.after.max.ms` (KIP-937): how far after now.
    pub timestamp_after_max_ms: i64,
    /// `max.message.bytes`: limit of the whole batch, as compressed.
    pub max_message_bytes: usize,
    /// `compression.type`: the codec the log keeps; none given (`producer`) keeps the producer's.
    pub compression: Option<Compression>,
    /// Whether the request's version knows zstd: Produce from 7 (KIP-110).
    pub zstd_allowed: bool,
    /// Whether compressed records are walked too; false is `ringlog.produce.validation=header`, which
    /// believes the producer about what is inside: keys and timestamps then aren't checked.
    pub walk_compressed: bool,
    /// How much a compressed batch may decompress to, in bytes.
    pub decompressed_max: u64,
    /// The broker's clock, in ms since 1970.
    pub now_ms: i64,
}

impl ProduceRules {
    /// Kafka's defaults, at `now_ms`.
    pub fn at(now_ms: i64) -> Self {
        Self {
            compacted: false,
            timestamp_type: TimestampType::CreateTime,
            timestamp_before_max_ms: i64::MAX,
            timestamp_after_max_ms: 3_600_000,
            max_message_bytes: 1_048_588,
            compression: None,
            zstd_allowed: true,
            walk_compressed: true,
            decompressed_max: DECOMPRESSED_BYTES_MAX,
            now_ms,
        }
    }

    fn timestamp_is_near(&self, timestamp: i64) -> bool {
        // Saturating: the far ends of i64 are legal on the wire.
        let age = self.now_ms.saturating_sub(timestamp);
        age <= self.timestamp_before_max_ms && age.saturating_neg() <= self.timestamp_after_max_ms
    }
}

/// Why a batch is refused: what the Produce response says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvalidBatch {
    /// The partition's error code.
    pub code: ErrorCode,
    /// The partition's error message.
    pub message: String,
    /// Which records are at fault (Produce from version 8, KIP-467); at most [`RECORD_ERRORS_MAX`].
    pub record_errors: Vec<RecordError>,
}

impl fmt::Display for InvalidBatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for InvalidBatch {}

/// One record's fault.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordError {
    /// Position of the record in its batch, from 0.
    pub batch_index: i32,
    /// What is wrong with it.
    pub message: String,
}

/// How many faulty records a refusal names.
pub const RECORD_ERRORS_MAX: usize = 100;

/// A batch that may be appended: its header says the truth about its records.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ValidBatch {
    batch: RecordBatch,
    recompress_to: Option<Compression>,
}

impl ValidBatch {
    /// A batch of the broker's own making (markers, coordinators' records), whose content needs no checking.
    pub fn own(batch: RecordBatch) -> Self {
        Self { batch, recompress_to: None }
    }

    /// The batch, as it came unless its largest timestamp was wrong.
    pub fn batch(&self) -> &RecordBatch {
        &self.batch
    }

    /// Its header: offsets, epoch and, for `LogAppendTime`, clock and max timestamp aren't yet what is appended.
    pub fn header(&self) -> &BatchHeader {
        self.batch.header()
    }

    /// The batch's length in bytes.
    pub fn total_bytes(&self) -> usize {
        self.batch.total_bytes()
    }

    /// The codec the topic wants, if it isn't the batch's.
    pub fn needs_recompression(&self) -> Option<Compression> {
        self.recompress_to
    }

    /// This batch in the codec the topic wants; itself if it has it. `level` as of [`super::compress`].
    ///
    /// # Errors
    /// INVALID_RECORD if the records can't be read; MESSAGE_TOO_LARGE if the new codec makes them exceed the
    /// topic's limit.
    pub fn recompressed(self, level: Option<i32>, rules: &ProduceRules) -> Result<Self, InvalidBatch> {
        let Some(codec) = self.recompress_to else { return Ok(self) };
        let batch =
            recompress(&self.batch, codec, level, rules.decompressed_max).map_err(|error| refuse(&error))?;
        check_size(batch.total_bytes(), rules)?;
        Ok(Self { batch, recompress_to: None })
    }
}

/// Decides whether a partition's records of a Produce request may be appended.
///
/// Costs one CRC pass and, where the records are walked, ~8 ns a record (plus decompression); no allocation
/// unless refused.
///
/// # Errors
/// What to answer; nothing of the batch is to be appended then.
pub fn validate(bytes: Bytes, rules: &ProduceRules) -> Result<ValidBatch, InvalidBatch> {
    let batch = one_batch(bytes, rules)?;
    check_header(batch.header(), rules)?;
    let codec = batch.header().attributes.compression().map_err(|error| refuse(&error))?;
    let recompress_to = rules.compression.filter(|wanted| *wanted != codec);
    let mut valid = ValidBatch { recompress_to, ..ValidBatch::own(batch) };
    if codec == Compression::None || rules.walk_compressed {
        check_records(&mut valid, rules)?;
    }
    Ok(valid)
}

/// Takes exactly one whole, intact batch within the size limit.
fn one_batch(mut bytes: Bytes, rules: &ProduceRules) -> Result<RecordBatch, InvalidBatch> {
    let claimed = super::batch_bytes(&bytes).map_err(|error| refuse(&error))?;
    let Some(total) = claimed.filter(|total| *total <= bytes.len()) else {
        return Err(invalid("a produce request needs one whole record batch a partition"));
    };
    if total < bytes.len() {
        return Err(invalid("a produce request may hold only one record batch a partition"));
    }
    // Before the CRC, as Kafka: an oversized batch isn't worth the pass.
    check_size(total, rules)?;
    let batch = RecordBatch::split_from(&mut bytes).map_err(|error| refuse(&error))?;
    if batch.header().attributes.compression() == Ok(Compression::Zstd) && !rules.zstd_allowed {
        return Err(InvalidBatch::new(
            ErrorCode::UNSUPPORTED_COMPRESSION_TYPE,
            "zstd needs version 7 or later of the produce request",
        ));
    }
    Ok(batch)
}

fn check_size(total: usize, rules: &ProduceRules) -> Result<(), InvalidBatch> {
    if total <= rules.max_message_bytes {
        return Ok(());
    }
    let message =
        format!("the record batch has {total} bytes, max.message.bytes is {}", rules.max_message_bytes);
    Err(InvalidBatch::new(ErrorCode::MESSAGE_TOO_LARGE, message))
}

fn check_header(header: &BatchHeader, rules: &ProduceRules) -> Result<(), InvalidBatch> {
    if header.base_offset != 0 {
        return Err(invalid(format!("the base offset must be 0, but it is {}", header.base_offset)));
    }
    if header.attributes.is_control() {
        return Err(invalid("clients may not write control records"));
    }
    if header.records_count <= 0 || header.last_offset_delta < 0 {
        return Err(invalid("the batch holds no records, or an impossible number"));
    }
    if i64::from(header.last_offset_delta) + 1 != i64::from(header.records_count) {
        return Err(invalid("the record count doesn't match the last offset"));
    }
    if header.has_producer() && (header.base_sequence < 0 || header.producer_epoch < 0) {
        return Err(invalid("a batch with a producer id needs a sequence and an epoch"));
    }
    let producers_clock = rules.timestamp_type == TimestampType::CreateTime;
    if producers_clock && header.attributes.timestamp_type() == TimestampType::LogAppendTime {
        return Err(InvalidBatch::new(
            ErrorCode::INVALID_TIMESTAMP,
            "a producer may not set the type LogAppendTime",
        ));
    }
    Ok(())
}

/// Walks the records, noting those that break the topic's rules.
fn check_records(valid: &mut ValidBatch, rules: &ProduceRules) -> Result<(), InvalidBatch> {
    let checks_time = rules.timestamp_type == TimestampType::CreateTime;
    let mut faults = Faults::default();
    let walked = valid.batch.walk(rules.decompressed_max, |record| {
        if rules.compacted && !record.has_key {
            faults.add_keyless(record);
        } else if checks_time
            && record.timestamp != NO_TIMESTAMP
            && !rules.timestamp_is_near(record.timestamp)
        {
            faults.add_timestamp(record, rules);
        }
    });
    let walked = walked.map_err(|error| refuse(&error))?;
    faults.refuse()?;
    if checks_time && walked.max_timestamp != valid.header().max_timestamp {
        valid.batch = with_max_timestamp(&valid.batch, walked.max_timestamp)?;
    }
    Ok(())
}

const NO_TIMESTAMP: i64 = -1;

/// The batch with its records' largest timestamp in the header: time queries, rolls and retention go by it, so a producer's word isn't
/// enough. Costs a copy, which no client in use makes necessary.
#[cold]
fn with_max_timestamp(batch: &RecordBatch, max_timestamp: i64) -> Result<RecordBatch, InvalidBatch> {
    let mut copy = batch.bytes().to_vec();
    patch_timestamp(&mut copy, TimestampType::CreateTime, max_timestamp);
    RecordBatch::parse(copy.into()).map_err(|error| refuse(&error))
}

#[derive(Default)]
struct Faults {
    count: usize,
    timestamp: bool,
    named: Vec<RecordError>,
}

impl Faults {
    #[cold]
    fn add_keyless(&mut self, record: WalkedRecord) {
        self.add(record, || "a compacted topic needs a key in every record".into());
    }

    #[cold]
    fn add_timestamp(&mut self, record: WalkedRecord, rules: &ProduceRules) {
        self.timestamp = true;
        self.add(record, || {
            format!(
                "timestamp {} is out of range: at most {} ms before and {} ms after {}",
                record.timestamp, rules.timestamp_before_max_ms, rules.timestamp_after_max_ms, rules.now_ms
            )
        });
    }

    fn add(&mut self, record: WalkedRecord, message: impl FnOnce() -> String) {
        self.count += 1;
        if self.named.len() < RECORD_ERRORS_MAX {
            self.named.push(RecordError { batch_index: record.index as i32, message: message() });
        }
    }

    /// One bad timestamp decides the code for all, as in Kafka.
    fn refuse(self) -> Result<(), InvalidBatch> {
        let Some(first) = self.named.first() else { return Ok(()) };
        let code = if self.timestamp { ErrorCode::INVALID_TIMESTAMP } else { ErrorCode::INVALID_RECORD };
        let message = format!("{} records were refused, the first because {}", self.count, first.message);
        Err(InvalidBatch { code, message, record_errors: self.named })
    }
}

impl InvalidBatch {
    fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), record_errors: Vec::new() }
    }
}

fn invalid(message: impl Into<String>) -> InvalidBatch {
    InvalidBatch::new(ErrorCode::INVALID_RECORD, message)
}

/// What to answer to a batch that can't be read. Where Kafka fails with UNKNOWN_SERVER_ERROR a code is named
/// that clients don't retry.
fn refuse(error: &RecordsError) -> InvalidBatch {
    let code = match error {
        RecordsError::BadCrc { .. } | RecordsError::BadLength(_) => ErrorCode::CORRUPT_MESSAGE,
        // 0 and 1 are formats that once were; anything else never was one.
        RecordsError::UnsupportedMagic(magic) if !(0..=1).contains(magic) => ErrorCode::CORRUPT_MESSAGE,
        RecordsError::UnknownCompression(_) => ErrorCode::UNSUPPORTED_COMPRESSION_TYPE,
        RecordsError::DecompressedTooLarge { .. } | RecordsError::TooLarge => ErrorCode::MESSAGE_TOO_LARGE,
        _ => ErrorCode::INVALID_RECORD,
    };
    let mut refusal = InvalidBatch::new(code, error.to_string());
    if let RecordsError::MalformedRecord { index, what } = error {
        refusal.record_errors.push(RecordError { batch_index: *index as i32, message: (*what).to_owned() });
    }
    refusal
}
