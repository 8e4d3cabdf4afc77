//! An open file of a shard.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use bytes::{Bytes, BytesMut};
use glommio::io::{BufferedFile, DmaFile, OpenOptions};

use super::{io_error, probe};
use crate::fs::{BLOCK, Durable, IoBuf, OpenMode};
use crate::real::current;
use crate::real::relay::relay;
use crate::real::ring::RingFile;

/// Largest piece of one read or write, in bytes. One above the device's own limit can hang in glommio's
/// polled ring.
const PIECE_MAX: usize = 1 << 20;

/// See [`crate::fs::File`].
pub(crate) struct File {
    // `None` once closed.
    handle: Option<Handle>,
    path: PathBuf,
}

enum Handle {
    Direct(DmaFile),
    Buffered(BufferedFile),
    Ring(RingFile),
}

impl File {
    pub(crate) async fn open(path: &Path, mode: OpenMode) -> io::Result<File> {
        let handle = match current::ring("rt::fs") {
            Some(ring) => Handle::Ring(RingFile::open(&ring, path, mode).await?),
            None => open_by_glommio(path, mode).await?,
        };
        Ok(File { handle: Some(handle), path: path.to_owned() })
    }

    fn handle(&self) -> &Handle {
        self.handle.as_ref().expect("only a close takes it")
    }

    fn fd(&self) -> BorrowedFd<'_> {
        let raw = match self.handle() {
            Handle::Direct(file) => file.as_raw_fd(),
            Handle::Buffered(file) => file.as_raw_fd(),
            Handle::Ring(file) => return file.fd(),
        };
        // SAFETY: the descriptor is open for as long as the handle, which the borrow of self keeps.
        #[allow(unsafe_code, reason = "glommio lends only raw descriptors")]
        unsafe {
            BorrowedFd::borrow_raw(raw)
        }
    }

    /// A descriptor of its own, for a call on a helper thread that may outlast this file.
    fn dup(&self) -> io::Result<OwnedFd> {
        self.fd().try_clone_to_owned()
    }

    pub(crate) async fn read_at(&self, pos: u64, len: usize) -> io::Result<Bytes> {
        let mut out = BytesMut::with_capacity(len);
        while out.len() < len {
            let at = pos + out.len() as u64;
            let want = len - out.len();
            let more = match self.handle() {
                Handle::Direct(file) => read_direct(file, at, want, &mut out).await?,
                Handle::Buffered(file) => read_buffered(file, at, want, &mut out).await?,
                Handle::Ring(file) => file.read_piece(at, want, &mut out).await?,
            };
            if !more {
                break;
            }
        }
        Ok(out.freeze())
    }

    pub(crate) async fn write_at(&self, pos: u64, buf: IoBuf, durable: Durable) -> (io::Result<()>, IoBuf) {
        let (written, buf) = match self.handle() {
            Handle::Direct(file) if buf.len() <= PIECE_MAX => write_whole(file, pos, buf).await,
            Handle::Direct(file) => (write_pieces(file, pos, &buf).await, buf),
            Handle::Buffered(file) => (write_buffered(file, pos, &buf).await, buf),
            Handle::Ring(file) => return file.write(pos, buf, durable).await,
        };
        // glommio has no flags for a write.
        match written {
            Ok(()) if durable == Durable::Yes => (self.sync_data().await, buf),
            other => (other, buf),
        }
    }

    pub(crate) async fn sync_data(&self) -> io::Result<()> {
        match self.handle() {
            Handle::Direct(file) => relay(file.fdatasync()).await,
            Handle::Buffered(file) => relay(file.fdatasync()).await,
            Handle::Ring(file) => return file.sync_data().await,
        }
        .map_err(io_error)
    }

    pub(crate) async fn set_len(&self, len: u64) -> io::Result<()> {
        let fd = self.dup()?;
        let helpers = current::expect("rt::fs").helpers.clone();
        Ok(helpers.run(move || rustix::fs::ftruncate(fd, len)).await?)
    }

    pub(crate) async fn set_modified_ms(&self, modified_ms: i64) -> io::Result<()> {
        let modified = rustix::fs::Timespec {
            tv_sec: modified_ms.div_euclid(1_000),
            tv_nsec: modified_ms.rem_euclid(1_000) * 1_000_000,
        };
        let times = rustix::fs::Timestamps { last_access: modified, last_modification: modified };
        let fd = self.dup()?;
        let helpers = current::expect("rt::fs").helpers.clone();
        Ok(helpers.run(move || rustix::fs::futimens(fd, &times)).await?)
    }

    pub(crate) async fn preset(&self, len: u64) -> io::Result<()> {
        let before = self.len()?;
        let allocated = match self.handle() {
            Handle::Direct(file) => relay(file.pre_allocate(len, false)).await.map_err(io_error),
            Handle::Buffered(file) => relay(file.pre_allocate(len, false)).await.map_err(io_error),
            Handle::Ring(file) => file.allocate(len).await,
        };
        if let Err(error) = allocated {
            // Out of space, some file systems keep the part they got, as size too.
            if self.len()? > before {
                self.set_len(before).await?;
            }
            return Err(error);
        }
        Ok(())
    }

    pub(crate) fn len(&self) -> io::Result<u64> {
        Ok(rustix::fs::fstat(self.fd())?.st_size as u64)
    }

    pub(crate) async fn close(mut self) -> io::Result<()> {
        match self.handle.take().expect("only a close takes it") {
            Handle::Direct(file) => relay(file.close()).await,
            Handle::Buffered(file) => relay(file.close()).await,
            Handle::Ring(file) => return file.close().await,
        }
        .map_err(io_error)
    }
}

impl Drop for File {
    fn drop(&mut self) {
        if self.handle.is_some() {
            // It is closed some time later, and by glommio maybe with a padded length until then.
            tracing::warn!(path = %self.path.display(), "a file was dropped without being closed");
        }
    }
}

async fn open_by_glommio(path: &Path, mode: OpenMode) -> io::Result<Handle> {
    let mut options = OpenOptions::new();
    options.read(true);
    let direct = match mode {
        OpenMode::Read { direct } => direct,
        OpenMode::ReadWrite { create, direct } => {
            options.write(true).create(create);
            direct
        }
    };
    if !direct {
        return Ok(Handle::Buffered(relay(options.buffered_open(path)).await.map_err(io_error)?));
    }
    let len = probe_len(path)?;
    probe::settle(path, len).await?;
    Ok(Handle::Direct(relay(options.dma_open(path)).await.map_err(io_error)?))
}

/// The size of what `path` names, 0 if nothing: only to choose how to settle IOPOLL.
fn probe_len(path: &Path) -> io::Result<u64> {
    match rustix::fs::stat(path) {
        Ok(stat) => Ok(stat.st_size as u64),
        Err(rustix::io::Errno::NOENT) => Ok(0),
        Err(error) => Err(error.into()),
    }
}

/// One aligned read of at most [`PIECE_MAX`]; false at the end of the file. What lies in the range is copied
/// once.
async fn read_direct(file: &DmaFile, pos: u64, want: usize, out: &mut BytesMut) -> io::Result<bool> {
    let block = BLOCK as u64;
    let start = pos / block * block;
    let skip = (pos - start) as usize;
    let size = (skip + want).min(PIECE_MAX).next_multiple_of(BLOCK);
    let read = relay(file.read_at_aligned(start, size)).await.map_err(io_error)?;
    let got = read.len().min(skip + want);
    if got <= skip {
        return Ok(false);
    }
    out.extend_from_slice(&read[skip..got]);
    // A direct read that ends inside a block ended at the end of the file.
    Ok(read.len().is_multiple_of(BLOCK))
}

async fn read_buffered(file: &BufferedFile, pos: u64, want: usize, out: &mut BytesMut) -> io::Result<bool> {
    let read = relay(file.read_at(pos, want.min(PIECE_MAX))).await.map_err(io_error)?;
    out.extend_from_slice(&read);
    Ok(!read.is_empty())
}

/// Writes a buffer of one piece without copying it.
async fn write_whole(file: &DmaFile, pos: u64, buf: IoBuf) -> (io::Result<()>, IoBuf) {
    let len = buf.len();
    if len == 0 {
        return (Ok(()), buf);
    }
    let shared = Rc::new(buf.into_dma());
    let written = relay(file.write_rc_at(shared.clone(), pos)).await.map_err(io_error);
    let result = match written {
        Ok(n) if n == len => Ok(()),
        // Rare: go on from the last whole block, which is written twice with the same bytes.
        Ok(n) => {
            let done = n / BLOCK * BLOCK;
            write_rest(file, pos + done as u64, &shared.as_bytes()[done..], n).await
        }
        Err(error) => Err(error),
    };
    match Rc::try_unwrap(shared) {
        Ok(dma) => (result, IoBuf::from_dma(dma)),
        // glommio kept its reference for a completion that is still to be taken in: hand back a copy.
        Err(shared) => {
            let mut copy = IoBuf::zeroed(len);
            copy.copy_from_slice(shared.as_bytes());
            (result, copy)
        }
    }
}

async fn write_rest(file: &DmaFile, pos: u64, rest: &[u8], last: usize) -> io::Result<()> {
    if last < BLOCK {
        return Err(io::Error::new(
            io::ErrorKind::WriteZero,
            format!("a write of blocks wrote {last} bytes"),
        ));
    }
    write_pieces(file, pos, rest).await
}

/// Writes block-aligned bytes in pieces, each copied into a buffer of its own.
async fn write_pieces(file: &DmaFile, mut pos: u64, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        let mut piece = IoBuf::zeroed(bytes.len().min(PIECE_MAX));
        let len = piece.len();
        piece.copy_from_slice(&bytes[..len]);
        let written = relay(file.write_at(piece.into_dma(), pos)).await.map_err(io_error)? / BLOCK * BLOCK;
        if written == 0 {
            return Err(io::ErrorKind::WriteZero.into());
        }
        pos += written as u64;
        bytes = &bytes[written..];
    }
    Ok(())
}

async fn write_buffered(file: &BufferedFile, mut pos: u64, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        let piece = bytes[..bytes.len().min(PIECE_MAX)].to_vec();
        let written = relay(file.write_at(piece, pos)).await.map_err(io_error)?;
        if written == 0 {
            return Err(io::ErrorKind::WriteZero.into());
        }
        pos += written as u64;
        bytes = &bytes[written..];
    }
    Ok(())
}
