//! The file that a group of segments is compacted into.

use std::io;
use std::path::PathBuf;

use protocol::records::BatchHeader;
use rt::fs::{File, IoBuf};

use crate::Offset;
use crate::dir::files;
use crate::dir::shared::DirShared;
use crate::limits::{BLOCK_BYTES, CLEANED_WRITE_BYTES};
use crate::log::active::SegmentBuild;

/// A segment that is being written, under its `.cleaned` name, in large pieces. It has its exact length, and is synced,
/// once [`Self::finish`] has returned.
#[derive(Debug)]
pub(crate) struct CleanedSegment {
    pub path: PathBuf,
    file: File,
    pub build: SegmentBuild,
    /// `None` while it is being written.
    buf: Option<IoBuf>,
    /// Bytes of `buf` that are filled, and where it starts in the file.
    filled: usize,
    start: u64,
    index_interval_bytes: u32,
}

impl CleanedSegment {
    /// Makes the file at `path`, for a segment that starts at `base`. What an earlier pass left there is overwritten.
    ///
    /// # Errors
    /// Of the device; no space.
    pub(crate) async fn create(
        dir: &DirShared,
        path: PathBuf,
        base: Offset,
        index_interval_bytes: u32,
    ) -> io::Result<Self> {
        files::remove(&path).await?;
        let file = files::open_for_writing(&path, true, dir.config.direct_io).await?;
        Ok(Self {
            path,
            file,
            build: SegmentBuild::new(base),
            buf: Some(IoBuf::to_fill(CLEANED_WRITE_BYTES)),
            filled: 0,
            start: 0,
            index_interval_bytes,
        })
    }

    /// Whether a batch may still come into a segment of at most `bytes_max`.
    pub(crate) fn has_room(&self, bytes: usize, bytes_max: u64) -> bool {
        self.build.bytes + bytes as u64 <= bytes_max
    }

    /// Adds a batch.
    ///
    /// # Errors
    /// As of [`Self::create`].
    pub(crate) async fn push(&mut self, header: &BatchHeader, mut batch: &[u8]) -> io::Result<()> {
        self.build.push(header, self.index_interval_bytes);
        while !batch.is_empty() {
            if let Some(buf) = &mut self.buf {
                let count = batch.len().min(buf.len() - self.filled);
                buf[self.filled..self.filled + count].copy_from_slice(&batch[..count]);
                self.filled += count;
                batch = &batch[count..];
            }
            if self.filled == CLEANED_WRITE_BYTES {
                self.write(CLEANED_WRITE_BYTES).await?;
            }
        }
        Ok(())
    }

    async fn write(&mut self, bytes: usize) -> io::Result<()> {
        let Some(buf) = self.buf.take() else { return Ok(()) };
        // The last one is shorter: a buffer of its own.
        let short = bytes < buf.len();
        let piece = if short { last_piece(&buf[..bytes]) } else { buf };
        let (written, piece) = self.file.write_at(self.start, piece).await;
        self.buf = Some(piece);
        self.start += bytes as u64;
        self.filled = 0;
        written
    }

    /// Writes what is left, cuts the file to its length and syncs it. It counts as changed at `modified_ms`, in ms since
    /// 1970, unless that is 0: what goes by the age of files goes by when the records came.
    ///
    /// # Errors
    /// As of [`Self::create`].
    pub(crate) async fn finish(&mut self, modified_ms: i64) -> io::Result<()> {
        if self.filled > 0 {
            if let Some(buf) = &mut self.buf {
                buf[self.filled..].fill(0);
            }
            self.write(self.filled.next_multiple_of(BLOCK_BYTES)).await?;
        }
        self.build.seal();
        self.file.set_len(self.build.bytes).await?;
        if modified_ms > 0 {
            self.file.set_modified_ms(modified_ms).await?;
        }
        self.file.sync_data().await
    }

    /// Closes the file.
    pub(crate) async fn close(self) -> SegmentBuild {
        if let Err(error) = self.file.close().await {
            tracing::warn!(file = %self.path.display(), %error, "closing a compacted segment");
        }
        self.build
    }
}

fn last_piece(bytes: &[u8]) -> IoBuf {
    let mut piece = IoBuf::zeroed(bytes.len());
    piece.copy_from_slice(bytes);
    piece
}
