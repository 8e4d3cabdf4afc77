//! Records as the data of an entry: format version, count, then each with its length.

use bytes::Bytes;
use protocol::internal::MetadataRecord;
use protocol::wire::{DecodeError, Reader, Writer};

use super::error::QuorumError;
use crate::metadata::limits::ENTRY_BYTES_MAX;

const VERSION: i8 = 0;

/// Records to bytes.
pub(super) fn encode(records: &[MetadataRecord]) -> Result<Bytes, QuorumError> {
    let mut w = Writer::new();
    w.put_i8(VERSION);
    w.put_uvarint(u32::try_from(records.len()).unwrap_or(u32::MAX));
    for record in records {
        put_record(&mut w, record)?;
        if w.len() > ENTRY_BYTES_MAX {
            return Err(QuorumError::TooLarge(w.len()));
        }
    }
    Ok(w.into_bytes())
}

/// Bytes to records.
pub(super) fn decode(data: Bytes) -> Result<Vec<MetadataRecord>, QuorumError> {
    let mut r = Reader::new(data);
    let version = r.i8()?;
    if version != VERSION {
        return Err(QuorumError::Record(format!("format {version} of a batch is newer than {VERSION}")));
    }
    let count = r.uvarint()?;
    let records = (0..count).map(|_| read_record(&mut r)).collect::<Result<_, _>>()?;
    r.finish()?;
    Ok(records)
}

/// Appends a record with its length.
pub(super) fn put_record(w: &mut Writer, record: &MetadataRecord) -> Result<(), QuorumError> {
    let bytes = record.encode()?;
    w.put_uvarint(u32::try_from(bytes.len()).map_err(|_| QuorumError::TooLarge(bytes.len()))?);
    w.put_slice(&bytes);
    Ok(())
}

/// Reads a record with its length.
pub(super) fn read_record(r: &mut Reader) -> Result<MetadataRecord, DecodeError> {
    let len = r.uvarint()?;
    let bytes = r.take(len as usize)?;
    Ok(MetadataRecord::decode(&bytes)?.0)
}
