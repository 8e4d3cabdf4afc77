//! What can be wrong with a batch or its records.

/// A batch that can't be read, or can't be built.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RecordsError {
    /// Fewer bytes than the batch claims, or than a header needs.
    #[error("a batch of {need} bytes ends after {have}")]
    Truncated {
        /// Bytes the batch needs, its length field included.
        need: usize,
        /// Bytes there are.
        have: usize,
    },
    /// The length field holds less than a header takes, or more than there may be.
    #[error("the batch length {0} is impossible")]
    BadLength(i32),
    /// Bytes follow where exactly one batch was expected.
    #[error("{0} bytes follow the batch")]
    TrailingBytes(usize),
    /// A format other than version 2.
    #[error("record format version {0} isn't supported, only version 2 is")]
    UnsupportedMagic(i8),
    /// The CRC-32C doesn't hold.
    #[error("the batch is corrupt: its CRC is {stored:#010x}, computed {computed:#010x}")]
    BadCrc {
        /// The CRC in the header.
        stored: u32,
        /// The CRC of the bytes.
        computed: u32,
    },
    /// Codec bits 5 to 7, which no Kafka defines.
    #[error("unknown compression codec {0}")]
    UnknownCompression(u8),
    /// A record breaks the format.
    #[error("record {index}: {what}")]
    MalformedRecord {
        /// Position of the record in its batch, from 0.
        index: u32,
        /// What is wrong.
        what: &'static str,
    },
    /// The header's fields contradict each other or the records.
    #[error("{0}")]
    Inconsistent(&'static str),
    /// The compressed block can't be decompressed.
    #[error("{codec} block is damaged: {why}")]
    Decompress {
        /// Name of the codec.
        codec: &'static str,
        /// What the codec says.
        why: String,
    },
    /// The compressed block holds more than the reader's limit.
    #[error("the batch decompresses to more than {limit} bytes")]
    DecompressedTooLarge {
        /// The limit in bytes.
        limit: u64,
    },
    /// The codec failed to compress.
    #[error("compression failed: {0}")]
    Compress(String),
    /// More bytes or records than a batch's 32-bit fields hold.
    #[error("the batch would exceed what 32-bit lengths hold")]
    TooLarge,
}
