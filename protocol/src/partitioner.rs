//! Which partition a key belongs to, as every client computes it.
//!
//! Java's default for keyed records: murmur2 of the key, made positive, modulo the partition count. Clients
//! with another default (librdkafka's is CRC-32) call this one `murmur2` or `murmur2_random`.

use std::num::NonZeroU32;

const SEED: u32 = 0x9747_b28c;
const M: u32 = 0x5bd1_e995;
const R: u32 = 24;

/// MurmurHash2 of `bytes`, 32 bits, with Kafka's seed.
pub fn murmur2(bytes: &[u8]) -> u32 {
    let mut hash = SEED ^ bytes.len() as u32;
    let (words, tail) = bytes.as_chunks::<4>();
    for word in words {
        let mut k = u32::from_le_bytes(*word).wrapping_mul(M);
        k ^= k >> R;
        hash = hash.wrapping_mul(M) ^ k.wrapping_mul(M);
    }
    if !tail.is_empty() {
        for (i, byte) in tail.iter().enumerate() {
            hash ^= u32::from(*byte) << (8 * i);
        }
        hash = hash.wrapping_mul(M);
    }
    hash ^= hash >> 13;
    hash = hash.wrapping_mul(M);
    hash ^ hash >> 15
}

/// The partition of records with this key in a topic of `partitions`. An empty key is a key; a null one
/// isn't, and goes anywhere.
pub fn partition_for_key(key: &[u8], partitions: NonZeroU32) -> u32 {
    // Masking, not the absolute value: that is how Java's client makes it positive.
    (murmur2(key) & 0x7fff_ffff) % partitions
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values that Kafka's own tests of `Utils.murmur2` name.
    #[test]
    fn murmur2_is_javas() {
        let golden: [(&[u8], i32); 6] = [
            (b"21", -973_932_308),
            (b"foobar", -790_332_482),
            (b"a-little-bit-long-string", -985_981_536),
            (b"a-little-bit-longer-string", -1_486_304_829),
            (b"lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8", -58_897_971),
            (b"abc", 479_470_107),
        ];
        for (key, hash) in golden {
            assert_eq!(murmur2(key) as i32, hash, "{}", String::from_utf8_lossy(key));
        }
    }

    /// librdkafka's own table for its `murmur2` partitioner.
    #[test]
    fn murmur2_is_librdkafkas() {
        let golden: [(&[u8], u32); 4] = [
            (b"kafka", 0xd067_cf64),
            (b"giberish123456789", 0x8f55_2b0c),
            (b"1234", 0x9fc9_7b14),
            (b"", 0x106e_08d9),
        ];
        for (key, hash) in golden {
            assert_eq!(murmur2(key), hash, "{}", String::from_utf8_lossy(key));
        }
    }

    #[test]
    fn partition_masks_the_sign() {
        let twelve = NonZeroU32::new(12).unwrap();
        assert_eq!(partition_for_key(b"21", twelve), (-973_932_308_i32 & 0x7fff_ffff) as u32 % 12);
        assert_eq!(partition_for_key(b"21", NonZeroU32::MIN), 0);
    }
}
