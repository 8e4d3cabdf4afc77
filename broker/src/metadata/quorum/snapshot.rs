//! The snapshot file: the image as records.

use bytes::{BufMut, Bytes, BytesMut};
use protocol::types::Str;
use protocol::wire::{Reader, Writer};
use rt::fs::BLOCK;

use super::batch::{put_record, read_record};
use super::error::QuorumError;
use super::header::SnapshotHeader;
use crate::metadata::image::Image;

/// The image up to an entry of the log.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Snapshot {
    pub(super) index: u64,
    pub(super) term: u64,
    pub(super) image: Image,
}

/// The whole file. Yields between records: an image may be large.
pub(super) async fn encode(raft_id: u64, index: u64, term: u64, image: &Image) -> Result<Bytes, QuorumError> {
    let mut w = Writer::new();
    let mut records = 0;
    for record in image.to_records() {
        put_record(&mut w, &record)?;
        records += 1;
        rt::yield_point().await;
    }
    Ok(file(raft_id, (index, term), image, records, &w.into_bytes()))
}

/// The file with these records of the image as its body, up to the entry of that index and term.
pub(super) fn file(
    raft_id: u64,
    (index, term): (u64, u64),
    image: &Image,
    records: u64,
    body: &Bytes,
) -> Bytes {
    let header = SnapshotHeader {
        raft_id,
        index,
        term,
        offset: image.offset,
        epoch: image.epoch.cast_unsigned(),
        records,
        body_bytes: body.len() as u64,
        body_crc: crc32c::crc32c(body),
        cluster_id: image.cluster_id.clone(),
    };
    let mut file = BytesMut::with_capacity(BLOCK + body.len());
    file.put_slice(&header.encode());
    file.put_slice(body);
    file.freeze()
}

/// Reads the file whose header is given.
///
/// # Errors
/// What is damaged.
pub(super) async fn decode(header: &SnapshotHeader, file: &Bytes) -> Result<Snapshot, String> {
    let body = file.slice(BLOCK..);
    if body.len() as u64 != header.body_bytes || crc32c::crc32c(&body) != header.body_crc {
        return Err("the length or the checksum of its records is wrong".into());
    }
    // Records borrow from what they are read from; the image keeps copies of its own.
    let mut r = Reader::new(body);
    let mut image = Image::empty(Str::from(header.cluster_id.as_str()));
    for _ in 0..header.records {
        let record = read_record(&mut r).map_err(|error| error.to_string())?;
        image.apply(&record).map_err(|error| error.to_string())?;
        rt::yield_point().await;
    }
    r.finish().map_err(|error| error.to_string())?;
    image.offset = header.offset;
    image.epoch = header.epoch.cast_signed();
    Ok(Snapshot { index: header.index, term: header.term, image })
}
