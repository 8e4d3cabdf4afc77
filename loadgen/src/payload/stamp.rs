//! The part of a value that proves what it is.

/// What a value says of itself, at its front, big-endian:
/// ```text
///  0        4     8          12     16         24          32
///  | CRC-32C| run | producer | slot | sequence | time in ns | filler ...
///           `------------- covered by the CRC, to the value's end -----
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stamp {
    /// Tells this run's records from those of other runs.
    pub(crate) run: u32,
    /// The producer's number in the run.
    pub(crate) producer: u32,
    /// The partition it was sent to, see [`crate::engine::Layout`].
    pub(crate) slot: u32,
    /// Counts what this producer sent to this partition, from 0.
    pub(crate) sequence: u64,
    /// When it was meant to be sent, in ns of the machine's monotonic clock.
    pub(crate) time_ns: u64,
}

/// Length of a stamp, and so of the shortest value that has one.
pub(crate) const STAMP_BYTES: usize = 32;

impl Stamp {
    /// Writes it to the front of `value`, with the checksum over all of it. One pass of hardware CRC.
    ///
    /// # Panics
    /// If `value` is shorter than [`STAMP_BYTES`].
    pub(crate) fn write(&self, value: &mut [u8]) {
        value[4..8].copy_from_slice(&self.run.to_be_bytes());
        value[8..12].copy_from_slice(&self.producer.to_be_bytes());
        value[12..16].copy_from_slice(&self.slot.to_be_bytes());
        value[16..24].copy_from_slice(&self.sequence.to_be_bytes());
        value[24..32].copy_from_slice(&self.time_ns.to_be_bytes());
        let crc = crc32c::crc32c(&value[4..]);
        value[0..4].copy_from_slice(&crc.to_be_bytes());
    }

    /// Reads it, without a look at the checksum; none from values that are too short.
    pub(crate) fn peek(value: &[u8]) -> Option<Self> {
        let head = value.first_chunk::<STAMP_BYTES>()?;
        Some(Self {
            run: u32::from_be_bytes(field(head, 4)),
            producer: u32::from_be_bytes(field(head, 8)),
            slot: u32::from_be_bytes(field(head, 12)),
            sequence: u64::from_be_bytes(field(head, 16)),
            time_ns: u64::from_be_bytes(field(head, 24)),
        })
    }

    /// Whether the checksum of a value holds; never for one that is too short.
    pub(crate) fn is_whole(value: &[u8]) -> bool {
        let Some(crc) = value.first_chunk::<4>().filter(|_| value.len() >= STAMP_BYTES) else { return false };
        u32::from_be_bytes(*crc) == crc32c::crc32c(&value[4..])
    }
}

fn field<const N: usize>(bytes: &[u8; STAMP_BYTES], at: usize) -> [u8; N] {
    let mut out = [0; N];
    out.copy_from_slice(&bytes[at..at + N]);
    out
}
