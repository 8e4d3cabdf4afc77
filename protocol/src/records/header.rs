//! The 61 bytes before the records.

use super::{Compression, RecordsError};

/// Length of the header, in bytes, up to the first record.
pub const HEADER_BYTES: usize = 61;
/// Where the length field ends: a batch's total is this plus `batchLength`.
pub const LENGTH_END: usize = 12;
/// Bytes from which [`batch_bytes`] tells a batch's length and format.
pub const PREFIX_BYTES: usize = 17;
/// First byte that the CRC covers.
pub const CRC_START: usize = 21;
/// The record format's version.
pub const MAGIC: i8 = 2;

pub(crate) const LEADER_EPOCH_AT: usize = 12;
pub(crate) const MAGIC_AT: usize = 16;
pub(crate) const CRC_AT: usize = 17;
pub(crate) const ATTRIBUTES_AT: usize = 21;
pub(crate) const MAX_TIMESTAMP_AT: usize = 35;

/// Whose clock stamped the records (KIP-32).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum TimestampType {
    /// The producer's.
    #[default]
    CreateTime,
    /// The broker's, when it appended the batch: every record then has the batch's max timestamp.
    LogAppendTime,
}

/// A batch's attribute bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Attributes(pub i16);

impl Attributes {
    const CODEC: i16 = 0b111;
    const LOG_APPEND_TIME: i16 = 1 << 3;
    const TRANSACTIONAL: i16 = 1 << 4;
    const CONTROL: i16 = 1 << 5;
    const DELETE_HORIZON: i16 = 1 << 6;

    /// The codec of the records block; an error for the bits no Kafka defines.
    pub fn compression(self) -> Result<Compression, RecordsError> {
        Compression::from_id((self.0 & Self::CODEC) as u8)
    }

    /// Bit 3: whose clock.
    pub fn timestamp_type(self) -> TimestampType {
        if self.0 & Self::LOG_APPEND_TIME != 0 {
            TimestampType::LogAppendTime
        } else {
            TimestampType::CreateTime
        }
    }

    /// Bit 4: part of a transaction (KIP-98).
    pub fn is_transactional(self) -> bool {
        self.0 & Self::TRANSACTIONAL != 0
    }

    /// Bit 5: a marker or quorum record, not data.
    pub fn is_control(self) -> bool {
        self.0 & Self::CONTROL != 0
    }

    /// Bit 6: the base timestamp is the time from which tombstones may go (KIP-534).
    pub fn has_delete_horizon(self) -> bool {
        self.0 & Self::DELETE_HORIZON != 0
    }

    /// These bits with another codec.
    pub fn with_compression(self, codec: Compression) -> Self {
        Self(self.0 & !Self::CODEC | codec.id() as i16)
    }

    /// These bits with another clock.
    pub fn with_timestamp_type(self, of: TimestampType) -> Self {
        self.with(Self::LOG_APPEND_TIME, of == TimestampType::LogAppendTime)
    }

    /// These bits with or without the transactional one.
    pub fn with_transactional(self, on: bool) -> Self {
        self.with(Self::TRANSACTIONAL, on)
    }

    /// These bits with or without the control one.
    pub fn with_control(self, on: bool) -> Self {
        self.with(Self::CONTROL, on)
    }

    /// These bits with or without the delete horizon.
    pub fn with_delete_horizon(self, on: bool) -> Self {
        self.with(Self::DELETE_HORIZON, on)
    }

    fn with(self, bit: i16, on: bool) -> Self {
        Self(if on { self.0 | bit } else { self.0 & !bit })
    }
}

/// A batch's header, field by field. Says nothing of whether the CRC holds: that is [`super::RecordBatch`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BatchHeader {
    /// Offset of the first record that the batch had when written (compaction may have taken the record
    /// itself).
    pub base_offset: i64,
    /// Bytes after the length field, at least 49.
    pub batch_length: i32,
    /// Epoch of the leader that appended it; -1 from a producer.
    pub partition_leader_epoch: i32,
    /// Format version, always [`MAGIC`] here.
    pub magic: i8,
    /// CRC-32C of everything from the attributes on.
    pub crc: u32,
    /// Codec, clock, transactional, control, delete horizon.
    pub attributes: Attributes,
    /// Offset of the last record less `base_offset`; compaction keeps it.
    pub last_offset_delta: i32,
    /// Timestamp that the records' deltas count from, in ms since 1970; the delete horizon if that bit is
    /// set.
    pub base_timestamp: i64,
    /// Largest timestamp of the batch, in ms since 1970; the append time if the broker's clock stamped it.
    pub max_timestamp: i64,
    /// Producer id (KIP-98), -1 without.
    pub producer_id: i64,
    /// Producer epoch, -1 without.
    pub producer_epoch: i16,
    /// Sequence of the first record, -1 without.
    pub base_sequence: i32,
    /// How many records the block holds.
    pub records_count: i32,
}

impl BatchHeader {
    /// Reads the header at the front of `bytes`. Checks format version and that the length can be one;
    /// neither the CRC nor that the whole batch is there.
    ///
    /// # Errors
    /// `Truncated`, `BadLength`, `UnsupportedMagic`.
    pub fn parse(bytes: &[u8]) -> Result<Self, RecordsError> {
        let Some(head) = bytes.first_chunk::<HEADER_BYTES>() else {
            return Err(RecordsError::Truncated { need: HEADER_BYTES, have: bytes.len() });
        };
        let header = Self {
            base_offset: i64::from_be_bytes(field(head, 0)),
            batch_length: i32::from_be_bytes(field(head, 8)),
            partition_leader_epoch: i32::from_be_bytes(field(head, LEADER_EPOCH_AT)),
            magic: head[MAGIC_AT] as i8,
            crc: u32::from_be_bytes(field(head, CRC_AT)),
            attributes: Attributes(i16::from_be_bytes(field(head, ATTRIBUTES_AT))),
            last_offset_delta: i32::from_be_bytes(field(head, 23)),
            base_timestamp: i64::from_be_bytes(field(head, 27)),
            max_timestamp: i64::from_be_bytes(field(head, MAX_TIMESTAMP_AT)),
            producer_id: i64::from_be_bytes(field(head, 43)),
            producer_epoch: i16::from_be_bytes(field(head, 51)),
            base_sequence: i32::from_be_bytes(field(head, 53)),
            records_count: i32::from_be_bytes(field(head, 57)),
        };
        check_length(header.batch_length)?;
        check_magic(header.magic)?;
        Ok(header)
    }

    /// Writes the header's 61 bytes as they stand, `crc` included.
    pub fn write_to(&self, head: &mut [u8; HEADER_BYTES]) {
        head[0..8].copy_from_slice(&self.base_offset.to_be_bytes());
        head[8..12].copy_from_slice(&self.batch_length.to_be_bytes());
        head[12..16].copy_from_slice(&self.partition_leader_epoch.to_be_bytes());
        head[16] = self.magic as u8;
        head[17..21].copy_from_slice(&self.crc.to_be_bytes());
        head[21..23].copy_from_slice(&self.attributes.0.to_be_bytes());
        head[23..27].copy_from_slice(&self.last_offset_delta.to_be_bytes());
        head[27..35].copy_from_slice(&self.base_timestamp.to_be_bytes());
        head[35..43].copy_from_slice(&self.max_timestamp.to_be_bytes());
        head[43..51].copy_from_slice(&self.producer_id.to_be_bytes());
        head[51..53].copy_from_slice(&self.producer_epoch.to_be_bytes());
        head[53..57].copy_from_slice(&self.base_sequence.to_be_bytes());
        head[57..61].copy_from_slice(&self.records_count.to_be_bytes());
    }

    /// The whole batch's length in bytes.
    pub fn total_bytes(&self) -> usize {
        LENGTH_END + self.batch_length as usize
    }

    /// Offset of the last record. A wrapped sum on absurd input, never a panic.
    pub fn last_offset(&self) -> i64 {
        self.base_offset.wrapping_add(i64::from(self.last_offset_delta))
    }

    /// The offset after the batch.
    pub fn next_offset(&self) -> i64 {
        self.last_offset().wrapping_add(1)
    }

    /// Whether an idempotent or transactional producer sent it.
    pub fn has_producer(&self) -> bool {
        self.producer_id >= 0
    }

    /// Sequence of the last record; sequences wrap from `i32::MAX` to 0. -1 without a producer.
    pub fn last_sequence(&self) -> i32 {
        if self.base_sequence < 0 {
            return -1;
        }
        ((i64::from(self.base_sequence) + i64::from(self.last_offset_delta)) & i64::from(i32::MAX)) as i32
    }

    /// Time from which tombstones and markers may be removed, in ms since 1970, once the cleaner has set it
    /// (KIP-534).
    pub fn delete_horizon_ms(&self) -> Option<i64> {
        self.attributes.has_delete_horizon().then_some(self.base_timestamp)
    }
}

/// The length in bytes, as claimed, of the batch at the front of `bytes`, without decoding it: a log scan
/// steps by this. `None` while fewer than [`PREFIX_BYTES`] are there. The batch itself needn't be whole.
///
/// # Errors
/// `BadLength` (also the zeros of a file's preset tail) and `UnsupportedMagic`.
pub fn batch_bytes(bytes: &[u8]) -> Result<Option<usize>, RecordsError> {
    let Some(prefix) = bytes.first_chunk::<PREFIX_BYTES>() else { return Ok(None) };
    let length = i32::from_be_bytes(field(prefix, 8));
    check_length(length)?;
    check_magic(prefix[MAGIC_AT] as i8)?;
    Ok(Some(LENGTH_END + length as usize))
}

fn check_length(length: i32) -> Result<(), RecordsError> {
    // The upper bound keeps the total within an i32 as well.
    let sane = ((HEADER_BYTES - LENGTH_END) as i32..=i32::MAX - LENGTH_END as i32).contains(&length);
    if sane { Ok(()) } else { Err(RecordsError::BadLength(length)) }
}

fn check_magic(magic: i8) -> Result<(), RecordsError> {
    if magic == MAGIC { Ok(()) } else { Err(RecordsError::UnsupportedMagic(magic)) }
}

#[inline]
fn field<const N: usize, const M: usize>(bytes: &[u8; M], at: usize) -> [u8; N] {
    let mut out = [0; N];
    out.copy_from_slice(&bytes[at..at + N]);
    out
}
