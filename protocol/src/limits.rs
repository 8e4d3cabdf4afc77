//! What a decoder accepts. Kafka 4.4's message readers have the same three limits for collections.

/// Elements of one array; more is refused.
pub const ARRAY_LEN_MAX: usize = 1_000_000;
/// Elements allocated ahead of their bytes: a count alone earns no more memory than this.
pub const ARRAY_PREALLOC_MAX: usize = 1_000;
/// Tagged fields of one struct; more is refused.
pub const TAGS_LEN_MAX: usize = 10_000;
/// Bytes of one string: the classic encoding has 15 bits, and Kafka holds the compact one to the same.
pub const STRING_BYTES_MAX: usize = i16::MAX as usize;
/// Bytes of shared memory from which a slice is sent as it is; a shorter one is cheaper copied than sent as
/// one more piece of the vector.
pub const SHARE_BYTES_MIN: usize = 512;
/// Bytes of the size that precedes every frame on a connection.
pub const FRAME_PREFIX_BYTES: usize = 4;

const _: () = assert!(ARRAY_PREALLOC_MAX <= ARRAY_LEN_MAX);
