//! Record values that prove what they are.

/// Length of the part that proves it: run, sequence, checksum.
pub(crate) const PAYLOAD_BYTES_MIN: usize = 20;

/// Least length of a value in a scenario that verifies.
pub(crate) const STAMP_BYTES: usize = 32;

/// What a value says of itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stamp {
    /// Number of the producer's run; other numbers are other runs' records.
    pub(crate) producer: u64,
    /// Counts the run's records from 0.
    pub(crate) sequence: u64,
}

/// Makes values: stamp, CRC-32C over all the rest, filler that compresses about by half, as text does.
#[derive(Debug)]
pub(crate) struct Payload {
    producer: u64,
    bytes: Vec<u8>,
}

impl Payload {
    pub(crate) fn new(producer: u64, record_bytes: usize) -> Self {
        let mut bytes = vec![0; record_bytes.max(PAYLOAD_BYTES_MIN)];
        let mut state = producer | 1;
        for byte in &mut bytes[PAYLOAD_BYTES_MIN..] {
            // xorshift: cheap, and the same for the same producer.
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            *byte = b'a' + (state % 16) as u8;
        }
        Self { producer, bytes }
    }

    /// The value of a sequence, until the next call.
    pub(crate) fn value(&mut self, sequence: u64) -> &[u8] {
        self.bytes[..8].copy_from_slice(&self.producer.to_be_bytes());
        self.bytes[8..16].copy_from_slice(&sequence.to_be_bytes());
        let crc = checksum(&self.bytes);
        self.bytes[16..20].copy_from_slice(&crc.to_be_bytes());
        &self.bytes
    }
}

fn checksum(bytes: &[u8]) -> u32 {
    crc32c::crc32c_append(crc32c::crc32c(&bytes[..16]), &bytes[PAYLOAD_BYTES_MIN..])
}

/// Reads a value's stamp; none if it isn't whole.
pub(crate) fn stamp(value: &[u8]) -> Option<Stamp> {
    let (producer, rest) = value.split_first_chunk::<8>()?;
    let (sequence, rest) = rest.split_first_chunk::<8>()?;
    let crc = rest.first_chunk::<4>()?;
    let whole = u32::from_be_bytes(*crc) == checksum(value);
    whole
        .then_some(Stamp { producer: u64::from_be_bytes(*producer), sequence: u64::from_be_bytes(*sequence) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_proves_what_it_is_and_any_change_shows() {
        for len in [PAYLOAD_BYTES_MIN, 21, 100] {
            let mut payload = Payload::new(7, len);
            let value = payload.value(9).to_vec();
            assert_eq!((value.len(), stamp(&value)), (len, Some(Stamp { producer: 7, sequence: 9 })));
            for at in 0..len {
                let mut changed = value.clone();
                changed[at] ^= 1;
                assert_eq!(stamp(&changed), None, "byte {at} of {len}");
            }
        }
        assert_eq!(stamp(b"something else"), None);
    }
}
