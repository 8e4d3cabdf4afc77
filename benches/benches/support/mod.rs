//! What the benchmarks share: batches as producers send them.
#![allow(dead_code, reason = "each benchmark uses its part")]

use bytes::Bytes;
use protocol::records::{BatchBuilder, Compression};

/// The clock of all batches, in ms since 1970.
pub(crate) const NOW_MS: i64 = 1_800_000_000_000;

/// A batch of `records` values of `value_bytes`, whose bytes compress about by half, as text does.
pub(crate) fn batch(records: u32, value_bytes: usize, codec: Compression) -> Bytes {
    let mut builder = BatchBuilder::new().compression(codec);
    let mut value = vec![0; value_bytes];
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    for at in 0..records {
        for byte in &mut value {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            *byte = b'a' + (state % 16) as u8;
        }
        builder.push(NOW_MS + i64::from(at), None, Some(&value), &[]);
    }
    builder.build().expect("a batch of a benchmark is small")
}
