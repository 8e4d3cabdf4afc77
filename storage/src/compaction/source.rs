//! The batches of a closed segment, one after another, past the cache.

use std::io;
use std::path::PathBuf;
use std::rc::Rc;

use bytes::{Bytes, BytesMut};
use protocol::records::{BatchHeader, ControlRecord, RecordBatch};

use super::plan::Segment;
use crate::CompactionError;
use crate::dir::files;
use crate::log::inner::LogInner;
use crate::segment::{SegmentReader, WalkError, names};

/// Where a batch stands.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Found {
    pub header: BatchHeader,
    pub at: u64,
}

impl Found {
    /// Where the next one starts.
    pub(crate) fn end(&self) -> u64 {
        self.at + self.header.total_bytes() as u64
    }
}

/// An open segment. Close it.
pub(crate) struct Source {
    reader: SegmentReader<'static>,
    path: PathBuf,
    position: u64,
}

impl Source {
    /// Opens a segment that isn't empty, to read on from `position`.
    ///
    /// # Errors
    /// `Storage`: it can't be opened now.
    pub(crate) async fn open(
        log: &LogInner,
        segment: &Segment,
        position: u64,
    ) -> Result<Self, CompactionError> {
        let path = log.file_path(segment.base, names::LOG);
        let opened = files::open_for_reading(&path, log.dir.config.direct_io).await;
        let file = opened.map_err(|error| CompactionError::reading(path.display().to_string(), error))?;
        Ok(Self { reader: SegmentReader::uncached(Rc::new(file), segment.bytes), path, position })
    }

    /// The next batch; `None` at the segment's end.
    ///
    /// # Errors
    /// `Uncleanable`: there is none. `Storage`: it can't be read now.
    pub(crate) async fn next(&mut self) -> Result<Option<Found>, CompactionError> {
        let at = self.position;
        let header = self.reader.header_at(at).await;
        let header = header.map_err(|error| match error {
            WalkError::Io(error) => self.unreadable(at, error),
            WalkError::NoBatch(reason) => damaged(&self.path, at, &reason),
        })?;
        let found = header.map(|header| Found { header, at });
        if let Some(found) = &found {
            self.position = found.end();
        }
        Ok(found)
    }

    /// The batch that was found, whole and with a CRC that holds. Costs a copy only if it lies in several pieces.
    ///
    /// # Errors
    /// `Uncleanable`: it is damaged. `Storage`: it can't be read now.
    pub(crate) async fn batch(&mut self, found: &Found) -> Result<RecordBatch, CompactionError> {
        let slices = self.reader.slices(found.at, found.end()).await;
        let bytes = join(slices.map_err(|error| self.unreadable(found.at, error))?);
        RecordBatch::parse(bytes).map_err(|error| self.damaged(found, &error))
    }

    /// What is wrong with what a batch holds.
    pub(crate) fn damaged(&self, found: &Found, error: &dyn std::fmt::Display) -> CompactionError {
        damaged(&self.path, found.at, error)
    }

    fn unreadable(&self, at: u64, error: io::Error) -> CompactionError {
        CompactionError::reading(format!("{} at {at}", self.path.display()), error)
    }

    /// Closes the file.
    pub(crate) async fn close(self) {
        if let Err(error) = self.reader.close().await {
            tracing::warn!(file = %self.path.display(), %error, "closing a segment file");
        }
    }
}

/// What the control batch's record says; `None` without a record.
///
/// # Errors
/// Its record can't be read.
pub(crate) fn control_kind(
    batch: &RecordBatch,
) -> Result<Option<ControlRecord>, protocol::records::RecordsError> {
    match batch.records().next() {
        None => Ok(None),
        Some(record) => ControlRecord::of(&record?).map(Some),
    }
}

fn damaged(path: &std::path::Path, at: u64, error: &dyn std::fmt::Display) -> CompactionError {
    CompactionError::Uncleanable(format!("{} at {at}: {error}", path.display()))
}

fn join(mut slices: Vec<Bytes>) -> Bytes {
    if slices.len() == 1 {
        return slices.remove(0);
    }
    let mut whole = BytesMut::with_capacity(slices.iter().map(Bytes::len).sum());
    slices.iter().for_each(|slice| whole.extend_from_slice(slice));
    whole.freeze()
}
