//! Reading a segment file batch by batch, in aligned pieces through the cache.

use std::io;
use std::rc::Rc;

use bytes::Bytes;
use protocol::records::{BatchHeader, CRC_START, HEADER_BYTES, RecordsError};
use rt::fs::File;

use crate::dir::shared::{DirShared, SegmentKey};
use crate::fan_out::fan_out;
use crate::limits::PIECE_BYTES;

/// Why a walk stopped.
#[derive(Debug, thiserror::Error)]
pub(crate) enum WalkError {
    /// The device failed.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// There is no batch.
    #[error("{0}")]
    NoBatch(String),
}

impl From<RecordsError> for WalkError {
    fn from(error: RecordsError) -> Self {
        Self::NoBatch(error.to_string())
    }
}

/// Reads one segment file up to a limit. What is before the limit doesn't change while it reads.
pub(crate) struct SegmentReader<'a> {
    file: Rc<File>,
    /// Where pieces are kept; a recovery scan keeps none.
    cache: Option<(&'a DirShared, SegmentKey)>,
    /// Where the readable bytes end, in bytes.
    limit: u64,
    /// Whether the file ends at the limit for good, so that the last piece is whole.
    closed: bool,
    held: Option<(u64, Bytes)>,
}

impl<'a> SegmentReader<'a> {
    pub(crate) fn cached(
        file: Rc<File>,
        dir: &'a DirShared,
        key: SegmentKey,
        limit: u64,
        closed: bool,
    ) -> Self {
        Self { file, cache: Some((dir, key)), limit, closed, held: None }
    }

    pub(crate) fn uncached(file: Rc<File>, limit: u64) -> Self {
        Self { file, cache: None, limit, closed: true, held: None }
    }

    /// Closes the file, unless others read it too.
    pub(crate) async fn close(self) -> io::Result<()> {
        match Rc::try_unwrap(self.file) {
            Ok(file) => file.close().await,
            Err(_) => Ok(()),
        }
    }

    /// Where the readable bytes end, in bytes.
    pub(crate) fn limit(&self) -> u64 {
        self.limit
    }

    /// Reads the pieces of a range into the cache, several at once.
    pub(crate) async fn prefetch(&self, from: u64, upto: u64) -> io::Result<()> {
        let upto = upto.min(self.limit);
        if self.cache.is_none() || from >= upto {
            return Ok(());
        }
        let pieces: Vec<u64> = (from / PIECE_BYTES as u64..=(upto - 1) / PIECE_BYTES as u64).collect();
        if pieces.len() > 1 {
            for result in fan_out(pieces, 4, |piece| self.load(piece)).await {
                result?;
            }
        }
        Ok(())
    }

    /// The header of the batch at `position`; `None` at the limit.
    pub(crate) async fn header_at(&mut self, position: u64) -> Result<Option<BatchHeader>, WalkError> {
        if position >= self.limit {
            return Ok(None);
        }
        let mut head = [0; HEADER_BYTES];
        if position + HEADER_BYTES as u64 > self.limit {
            return Err(WalkError::NoBatch(format!("{} bytes are no batch", self.limit - position)));
        }
        self.copy(position, &mut head).await?;
        let header = BatchHeader::parse(&head)?;
        if position + header.total_bytes() as u64 > self.limit {
            let total = header.total_bytes();
            return Err(WalkError::NoBatch(format!(
                "{total} bytes of batch where {} are left",
                self.limit - position
            )));
        }
        Ok(Some(header))
    }

    /// Whether the batch at `position` is what its CRC says.
    pub(crate) async fn crc_holds(&mut self, position: u64, header: &BatchHeader) -> io::Result<bool> {
        let (mut at, end) = (position + CRC_START as u64, position + header.total_bytes() as u64);
        let mut crc = 0;
        while at < end {
            let part = self.part(at, end).await?;
            crc = crc32c::crc32c_append(crc, &part);
            at += part.len() as u64;
        }
        Ok(crc == header.crc)
    }

    /// The bytes from `from` to `upto`, as slices of pieces.
    pub(crate) async fn slices(&mut self, from: u64, upto: u64) -> io::Result<Vec<Bytes>> {
        let mut slices = Vec::new();
        let mut at = from;
        while at < upto {
            let part = self.part(at, upto).await?;
            at += part.len() as u64;
            slices.push(part);
        }
        Ok(slices)
    }

    async fn copy(&mut self, position: u64, target: &mut [u8]) -> io::Result<()> {
        let mut copied = 0;
        while copied < target.len() {
            let part = self.part(position + copied as u64, position + target.len() as u64).await?;
            target[copied..copied + part.len()].copy_from_slice(&part);
            copied += part.len();
        }
        Ok(())
    }

    /// At least one byte from `at` on, not beyond `upto`.
    async fn part(&mut self, at: u64, upto: u64) -> io::Result<Bytes> {
        let index = at / PIECE_BYTES as u64;
        let piece = match &self.held {
            Some((held, piece)) if *held == index => piece.clone(),
            _ => {
                let piece = self.load(index).await?;
                self.held = Some((index, piece.clone()));
                piece
            }
        };
        let from = (at - index * PIECE_BYTES as u64) as usize;
        let end = ((upto - index * PIECE_BYTES as u64) as usize).min(piece.len());
        if from >= end {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok(piece.slice(from..end))
    }

    async fn load(&self, index: u64) -> io::Result<Bytes> {
        let start = index * PIECE_BYTES as u64;
        let bytes = (self.limit - start).min(PIECE_BYTES as u64) as usize;
        if let Some((dir, key)) = self.cache {
            let found = dir.pieces.borrow_mut().get(&(key, index));
            if let Some(piece) = found.filter(|piece| piece.len() >= bytes) {
                return Ok(piece);
            }
        }
        let piece = self.file.read_at(start, bytes).await?;
        if piece.len() < bytes {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        if let Some((dir, key)) = self.cache.filter(|_| self.closed || bytes == PIECE_BYTES) {
            dir.pieces.borrow_mut().insert((key, index), piece.clone(), bytes);
        }
        Ok(piece)
    }
}
