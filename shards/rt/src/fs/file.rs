//! An open file.

use std::io;
use std::path::Path;

use bytes::Bytes;

use super::buf::{BLOCK, IoBuf};

/// How a file is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpenMode {
    /// For reading.
    Read {
        /// Past the page cache.
        direct: bool,
    },
    /// For reading and writing.
    ReadWrite {
        /// Makes the file if there is none.
        create: bool,
        /// Past the page cache.
        direct: bool,
    },
}

impl OpenMode {
    /// Reading by direct I/O.
    pub const READ: OpenMode = OpenMode::Read { direct: true };
    /// Reading and writing by direct I/O.
    pub const READ_WRITE: OpenMode = OpenMode::ReadWrite { create: false, direct: true };
    /// As [`OpenMode::READ_WRITE`], making the file if there is none.
    pub const CREATE: OpenMode = OpenMode::ReadWrite { create: true, direct: true };
}

/// Whether a write is to be durable when it returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Durable {
    No,
    Yes,
}

/// An open file of the running task's shard. End its life with [`File::close`].
pub struct File {
    inner: Inner,
    mode: OpenMode,
}

enum Inner {
    Real(crate::real::fs::File),
    #[cfg(feature = "sim")]
    Sim(crate::sim::disk::File),
}

impl File {
    /// Opens the file at `path`.
    ///
    /// # Errors
    /// NotFound, and what else the system says.
    pub async fn open(path: impl AsRef<Path>, mode: OpenMode) -> io::Result<File> {
        #[cfg(feature = "sim")]
        if crate::sim::facade::is_simulated() {
            let create = matches!(mode, OpenMode::ReadWrite { create: true, .. });
            let file = crate::sim::disk::File::open(path.as_ref(), create).await?;
            return Ok(File { inner: Inner::Sim(file), mode });
        }
        let file = crate::real::fs::File::open(path.as_ref(), mode).await?;
        Ok(File { inner: Inner::Real(file), mode })
    }

    /// Up to `len` bytes at `pos`, at any alignment; short only at the end of the file.
    ///
    /// # Errors
    /// EIO and the like.
    pub async fn read_at(&self, pos: u64, len: usize) -> io::Result<Bytes> {
        match &self.inner {
            Inner::Real(file) => file.read_at(pos, len).await,
            #[cfg(feature = "sim")]
            Inner::Sim(file) => file.read_at(pos, len).await,
        }
    }

    /// Writes all of `buf` at `pos`, a multiple of [`BLOCK`]. The buffer comes back in any case.
    ///
    /// Dropping the future doesn't stop the write.
    ///
    /// # Errors
    /// EIO, ENOSPC and the like: any part of it may be on disk. PermissionDenied on a file opened for
    /// reading.
    pub async fn write_at(&self, pos: u64, buf: IoBuf) -> (io::Result<()>, IoBuf) {
        self.write(pos, buf, Durable::No).await
    }

    /// As [`File::write_at`], and what it wrote is durable when it returns, in one operation of the device's queue instead of two
    /// (`RWF_DSYNC`).
    ///
    /// Only if all earlier writes to the file were durable before it began: a device with forced unit access syncs this one alone.
    ///
    /// # Errors
    /// As [`File::write_at`] and [`File::sync_data`].
    pub async fn write_durable_at(&self, pos: u64, buf: IoBuf) -> (io::Result<()>, IoBuf) {
        self.write(pos, buf, Durable::Yes).await
    }

    async fn write(&self, pos: u64, buf: IoBuf, durable: Durable) -> (io::Result<()>, IoBuf) {
        assert!(pos.is_multiple_of(BLOCK as u64), "write at {pos}, no multiple of {BLOCK}");
        if matches!(self.mode, OpenMode::Read { .. }) {
            return (Err(io::ErrorKind::PermissionDenied.into()), buf);
        }
        match &self.inner {
            Inner::Real(file) => file.write_at(pos, buf, durable).await,
            #[cfg(feature = "sim")]
            Inner::Sim(file) => {
                let data = Bytes::copy_from_slice(&buf);
                let written = match durable {
                    Durable::No => file.write_at(pos, data).await,
                    Durable::Yes => file.write_durable_at(pos, data).await,
                };
                (written, buf)
            }
        }
    }

    /// Makes contents and size durable, as they were when the call began.
    ///
    /// # Errors
    /// EIO: what is on disk is unknown from then on, whatever later syncs say.
    pub async fn sync_data(&self) -> io::Result<()> {
        match &self.inner {
            Inner::Real(file) => file.sync_data().await,
            #[cfg(feature = "sim")]
            Inner::Sim(file) => file.sync_data().await,
        }
    }

    /// Cuts the file, or extends it by a hole without allocated space.
    ///
    /// # Errors
    /// EIO and the like.
    pub async fn set_len(&self, len: u64) -> io::Result<()> {
        match &self.inner {
            Inner::Real(file) => file.set_len(len).await,
            #[cfg(feature = "sim")]
            Inner::Sim(file) => file.set_len(len).await,
        }
    }

    /// Has the file count as changed last at `modified_ms`, in ms since 1970: until it is changed again. Durable with the
    /// next sync that has something else to do.
    ///
    /// # Errors
    /// EIO and the like.
    pub async fn set_modified_ms(&self, modified_ms: i64) -> io::Result<()> {
        match &self.inner {
            Inner::Real(file) => file.set_modified_ms(modified_ms).await,
            #[cfg(feature = "sim")]
            Inner::Sim(file) => file.set_modified_ms(modified_ms).await,
        }
    }

    /// Allocates space from the start to `len` and extends the file to it: writes up to there can't meet
    /// ENOSPC.
    ///
    /// # Errors
    /// ENOSPC; the size is then as before.
    pub async fn preset(&self, len: u64) -> io::Result<()> {
        match &self.inner {
            Inner::Real(file) => file.preset(len).await,
            #[cfg(feature = "sim")]
            Inner::Sim(file) => file.preset(len).await,
        }
    }

    /// The size, in bytes.
    ///
    /// # Errors
    /// EIO and the like.
    pub async fn len(&self) -> io::Result<u64> {
        match &self.inner {
            Inner::Real(file) => file.len(),
            #[cfg(feature = "sim")]
            Inner::Sim(file) => file.len(),
        }
    }

    /// Closes the file. It syncs nothing.
    ///
    /// # Errors
    /// What the system says; the file is closed all the same.
    pub async fn close(self) -> io::Result<()> {
        match self.inner {
            Inner::Real(file) => file.close().await,
            #[cfg(feature = "sim")]
            Inner::Sim(file) => {
                drop(file);
                Ok(())
            }
        }
    }
}

impl std::fmt::Debug for File {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("File").field("mode", &self.mode).finish_non_exhaustive()
    }
}
