//! A batch in another codec, for topics whose `compression.type` names one (KIP-390 for the levels).

use super::{BatchBuilder, Compression, RecordBatch, RecordsError};

/// Rebuilds `batch` with its records compressed by `codec`. Offsets, timestamps, headers, producer fields and
/// all other attributes stay. The one place where records are decoded on the way in: about a microsecond a
/// record.
///
/// # Errors
/// Those of reading the records, and `Compress`, `TooLarge`.
pub fn recompress(
    batch: &RecordBatch,
    codec: Compression,
    level: Option<i32>,
    decompressed_max: u64,
) -> Result<RecordBatch, RecordsError> {
    let mut rebuilt = BatchBuilder::like(batch.header()).compression(codec).level(level);
    for record in batch.records_within(decompressed_max) {
        rebuilt.push_record(&record?);
    }
    RecordBatch::parse(rebuilt.build()?)
}
