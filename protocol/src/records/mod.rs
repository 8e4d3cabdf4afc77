//! Record batches, format version 2 (KIP-98, KIP-82), and nothing older: Kafka 4 refuses the formats before
//! it.
//!
//! The layout, big-endian, total length = 12 + `batchLength`:
//! ```text
//!  0        8       12        16    17    21     23          27        35       43    51     53       57      61
//!  | base   | batch | leader  | mag-| crc | attr | last off. | base    | max    | prod| prod | base   | rec-  | records,
//!  | offset | length| epoch   | ic  |     |      | delta     | timest. | timest.| id  | epoch| seq.   | ords  | one block
//!  `------ a broker rewrites -----'       `---------------- covered by the CRC-32C ---------------------------------
//! ```
//! The base offset and leader epoch stand outside the CRC, so that a broker assigns offsets without touching
//! the rest.
//!
//! | to do this | use |
//! |--|--|
//! | check bytes of a peer or file once, then trust them | [`RecordBatch`] |
//! | look at the header only | [`BatchHeader`], [`batch_bytes`], [`HeaderScan`] |
//! | go through several batches in a row | [`BatchScan`] |
//! | accept or refuse what a producer sent | [`validate()`] |
//! | write offsets, epoch and append time into a copy | [`patch_offset_and_epoch`], [`patch_timestamp`] |
//! | read records | [`RecordBatch::records`] |
//! | make a batch | [`BatchBuilder`] |
//! | change a batch's codec | [`recompress()`] |
//! | take records out of a batch | [`BatchBuilder::like`], [`emptied`] |

mod batch;
mod builder;
mod compression;
mod control;
mod error;
mod header;
mod patch;
mod recompress;
mod record;
mod scan;
mod snappy;
#[cfg(test)]
mod tests;
mod thin;
mod validate;
mod varint;
mod walk;

pub use batch::RecordBatch;
pub use builder::BatchBuilder;
pub use compression::{Compression, Decompressor, compress};
pub use control::{ControlRecord, EndTxnMarker};
pub use error::RecordsError;
pub use header::{
    Attributes, BatchHeader, CRC_START, HEADER_BYTES, LENGTH_END, MAGIC, PREFIX_BYTES, TimestampType,
    batch_bytes,
};
pub use patch::{patch_offset_and_epoch, patch_timestamp};
pub use recompress::recompress;
pub use record::{Record, RecordHeader, RecordIter};
pub use scan::{BatchScan, HeaderScan};
pub use thin::emptied;
pub use validate::{InvalidBatch, ProduceRules, RECORD_ERRORS_MAX, RecordError, ValidBatch, validate};
pub use walk::{Walked, WalkedRecord};

/// How much a compressed batch may decompress to, in bytes, where the caller has no better limit: 128 MiB.
///
/// Nothing is allocated ahead to this size; it bounds the work that a small compressed batch can cause.
pub const DECOMPRESSED_BYTES_MAX: u64 = 128 << 20;
