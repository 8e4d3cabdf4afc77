//! The two files on disk.

use std::io;
use std::path::{Path, PathBuf};

use bytes::Bytes;
use rt::fs::{BLOCK, File, IoBuf, OpenMode};

use super::error::QuorumError;
use super::frame::Frame;
use super::header::LogHeader;
use crate::metadata::limits::{LOG_GROWTH_BYTES, LOG_START_BYTES};

/// The log's name in its directory.
pub const LOG_NAME: &str = "ringlog-raft.log";
/// The snapshot's name in its directory.
pub const SNAPSHOT_NAME: &str = "ringlog-raft.snapshot";

/// The log, open for writing. Owned by the driver; one write at a time, each synced before the next.
#[derive(Debug)]
pub(super) struct LogFile {
    path: PathBuf,
    file: File,
    header: LogHeader,
    end: u64,
    next_seq: u64,
    /// Space that writes can count on, in bytes from the file's start.
    allocated: u64,
    direct: bool,
}

impl LogFile {
    /// Makes a log that starts with these frames, in place of the one there may be. A crash leaves the old one or the
    /// new one.
    pub(super) async fn create(
        path: PathBuf,
        header: LogHeader,
        frames: &[Frame],
        direct: bool,
    ) -> Result<Self, QuorumError> {
        let mut bytes = header.encode();
        let mut next_seq = header.first_seq;
        for frame in frames {
            bytes.extend_from_slice(&frame.encode(header.file_id, next_seq));
            next_seq += 1;
        }
        let end = bytes.len() as u64;
        rt::fs::write_atomic(&path, Bytes::from(bytes)).await.map_err(|e| QuorumError::io(&path, &e))?;
        Self::open(path, header, end, next_seq, direct).await
    }

    /// Opens a log to go on at `end`.
    pub(super) async fn open(
        path: PathBuf,
        header: LogHeader,
        end: u64,
        next_seq: u64,
        direct: bool,
    ) -> Result<Self, QuorumError> {
        let mode = OpenMode::ReadWrite { create: false, direct };
        let file = File::open(&path, mode).await.map_err(|e| QuorumError::io(&path, &e))?;
        Ok(Self { path, file, header, end, next_seq, allocated: 0, direct })
    }

    /// Makes durable what was read, and drops a torn flush: otherwise what is written next could reach the disk without
    /// what is before it. The space stays the log's, as far as nobody else takes it meanwhile.
    pub(super) async fn settle(&self, torn: bool) -> Result<(), QuorumError> {
        if torn {
            let len = self.file.len().await.map_err(|e| self.error(&e))?;
            self.file.set_len(self.end).await.map_err(|e| self.error(&e))?;
            match self.file.preset(len).await {
                Err(error) if !is_full(&error) => return Err(self.error(&error)),
                _ => {}
            }
        }
        self.file.sync_data().await.map_err(|e| self.error(&e))
    }

    /// Bytes of frames.
    pub(super) fn bytes(&self) -> u64 {
        self.end - BLOCK as u64
    }

    /// Makes sure that `bytes` more can be written.
    ///
    /// # Errors
    /// [`QuorumError::DiskFull`], after which the log is as it was.
    pub(super) async fn reserve(&mut self, bytes: u64) -> Result<(), QuorumError> {
        let needed = self.end + bytes;
        if needed <= self.allocated {
            return Ok(());
        }
        let wanted = needed.next_multiple_of(LOG_GROWTH_BYTES);
        match self.file.preset(wanted).await {
            Ok(()) => self.allocated = wanted,
            Err(error) if is_full(&error) => {
                // The next megabyte doesn't fit, this frame may.
                let exact = self.file.preset(needed).await;
                exact.map_err(|e| if is_full(&e) { QuorumError::DiskFull } else { self.error(&e) })?;
                self.allocated = needed;
            }
            Err(error) => return Err(self.error(&error)),
        }
        Ok(())
    }

    /// Appends a frame and makes it durable.
    ///
    /// # Errors
    /// Then what is on disk is unknown: the log must not be used any more.
    pub(super) async fn append(&mut self, frame: &Frame) -> Result<(), QuorumError> {
        let bytes = frame.encode(self.header.file_id, self.next_seq);
        let mut buf = IoBuf::zeroed(bytes.len());
        buf.copy_from_slice(&bytes);
        let (written, _) = self.file.write_at(self.end, buf).await;
        written.map_err(|e| self.error(&e))?;
        self.file.sync_data().await.map_err(|e| self.error(&e))?;
        self.end += bytes.len() as u64;
        self.next_seq += 1;
        Ok(())
    }

    /// Goes on with a new file that starts after entry `index`, which a durable snapshot holds.
    ///
    /// # Errors
    /// [`QuorumError::DiskFull`]: this file goes on. Anything else: it is unknown which one is there.
    pub(super) async fn restart(
        &mut self,
        index: u64,
        term: u64,
        frame: &Frame,
        file_id: u64,
    ) -> Result<(), QuorumError> {
        let header = LogHeader {
            file_id,
            start_index: index,
            start_term: term,
            first_seq: self.next_seq,
            ..self.header.clone()
        };
        let path = self.path.clone();
        match Self::create(path, header, std::slice::from_ref(frame), self.direct).await {
            Ok(new) => {
                let old = std::mem::replace(self, new);
                old.file.close().await.map_err(|e| QuorumError::io(&old.path, &e))
            }
            Err(QuorumError::Io { kind: io::ErrorKind::StorageFull, .. }) if self.is_in_place().await => {
                Err(QuorumError::DiskFull)
            }
            Err(error) => Err(error),
        }
    }

    async fn is_in_place(&self) -> bool {
        let file = rt::fs::read(&self.path).await.ok();
        let header = file.and_then(|file| LogHeader::decode(&file).ok());
        header.is_some_and(|header| header.file_id == self.header.file_id)
    }

    /// Closes the file, with space for what the next start writes: it must not depend on that of a disk that is full by then. If the disk is
    /// full already, the file keeps what it has.
    pub(super) async fn close(mut self) -> Result<(), QuorumError> {
        let kept = match self.reserve(LOG_START_BYTES).await {
            Ok(()) => Some(self.end + LOG_START_BYTES),
            Err(QuorumError::DiskFull) => None,
            Err(error) => return Err(error),
        };
        let path = self.path;
        let error = |e: io::Error| QuorumError::io(&path, &e);
        if let Some(kept) = kept {
            self.file.set_len(kept).await.map_err(error)?;
        }
        self.file.sync_data().await.map_err(error)?;
        self.file.close().await.map_err(error)
    }

    fn error(&self, error: &io::Error) -> QuorumError {
        QuorumError::io(&self.path, error)
    }
}

/// Reads a whole file; none if there is none.
pub(super) async fn read(path: &Path) -> Result<Option<Bytes>, QuorumError> {
    match rt::fs::read(path).await {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(QuorumError::io(path, &error)),
    }
}

pub(super) fn is_full(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
}
