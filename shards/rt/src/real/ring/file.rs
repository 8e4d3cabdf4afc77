//! [`RingFile`]: an open file on the ring.

use std::ffi::CString;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, IntoRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::rc::Rc;

use bytes::BytesMut;
use io_uring::opcode::{Close, Fallocate, Fsync, OpenAt, Read, Write};
use io_uring::types::{Fd, FsyncFlags};
use rustix::fs::OFlags;
use rustix::io::ReadWriteFlags;

use super::op::{IfDropped, Op};
use super::reactor::Reactor;
use crate::fs::{BLOCK, Durable, IoBuf, OpenMode};

/// Largest piece of one read or write, in bytes.
const PIECE_MAX: usize = 1 << 20;

/// The mode of a new file, less the process's mask.
const CREATE_MODE: u32 = 0o666;

/// See [`crate::fs::File`]. The descriptor lives as long as the last operation on it, whoever waits.
pub(crate) struct RingFile {
    reactor: Rc<Reactor>,
    fd: Rc<OwnedFd>,
    direct: bool,
}

impl RingFile {
    pub(crate) async fn open(reactor: &Rc<Reactor>, path: &Path, mode: OpenMode) -> io::Result<RingFile> {
        let (mut flags, direct) = match mode {
            OpenMode::Read { direct } => (OFlags::RDONLY, direct),
            OpenMode::ReadWrite { create, direct } => {
                (OFlags::RDWR | if create { OFlags::CREATE } else { OFlags::empty() }, direct)
            }
        };
        flags |= OFlags::CLOEXEC;
        flags.set(OFlags::DIRECT, direct);
        let name = CString::new(path.as_os_str().as_bytes())?;
        let op = Op::begin(reactor, name, IfDropped::CloseResult, |name| {
            let at = Fd(rustix::fs::CWD.as_raw_fd());
            OpenAt::new(at, name.as_ptr()).flags(flags.bits() as i32).mode(CREATE_MODE).build()
        });
        let raw = op.await.0?;
        // SAFETY: the kernel has just made this descriptor for us, and nobody else knows it.
        #[allow(unsafe_code, reason = "the ring hands out raw descriptors")]
        let fd = unsafe { OwnedFd::from_raw_fd(raw as i32) };
        Ok(RingFile { reactor: Rc::clone(reactor), fd: Rc::new(fd), direct })
    }

    pub(crate) fn fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }

    /// One read of at most a piece into `out`; false at the end of the file. What lies in the range is copied once.
    pub(crate) async fn read_piece(&self, pos: u64, want: usize, out: &mut BytesMut) -> io::Result<bool> {
        let align = if self.direct { BLOCK as u64 } else { 1 };
        let start = pos / align * align;
        let skip = (pos - start) as usize;
        let buf = IoBuf::scratch((skip + want).min(PIECE_MAX).next_multiple_of(BLOCK));
        let size = if self.direct { buf.len() } else { want.min(PIECE_MAX) };
        let op = Op::begin(&self.reactor, (buf, Rc::clone(&self.fd)), IfDropped::Finish, |(buf, fd)| {
            Read::new(Fd(fd.as_raw_fd()), buf.as_mut_ptr(), size as u32).offset(start).build()
        });
        let (result, (buf, _)) = op.await;
        let read = result?;
        let got = read.min(skip + want);
        if got <= skip {
            return Ok(false);
        }
        out.extend_from_slice(&buf[skip..got]);
        // A direct read that ends inside a block ended at the end of the file.
        Ok(!self.direct || read.is_multiple_of(BLOCK))
    }

    /// Writes all of `buf`, without copying it.
    pub(crate) async fn write(&self, pos: u64, mut buf: IoBuf, durable: Durable) -> (io::Result<()>, IoBuf) {
        let flags = if durable == Durable::Yes { ReadWriteFlags::DSYNC.bits() as i32 } else { 0 };
        let (mut done, mut short) = (0, false);
        while done < buf.len() {
            let size = (buf.len() - done).min(PIECE_MAX);
            let kept = (buf, Rc::clone(&self.fd));
            let op = Op::begin(&self.reactor, kept, IfDropped::Finish, |(buf, fd)| {
                let from = buf[done..].as_ptr();
                let write = Write::new(Fd(fd.as_raw_fd()), from, size as u32);
                write.offset(pos + done as u64).rw_flags(flags).build()
            });
            let (result, (back, _)) = op.await;
            buf = back;
            match result {
                Ok(0) => return (Err(io::ErrorKind::WriteZero.into()), buf),
                Ok(written) if written == size || !self.direct => done += written,
                // It goes on from the last whole block, which is written twice with the same bytes. Less than one: the next
                // try says what is wrong, but for one that never does.
                Ok(written) if written >= BLOCK || !short => {
                    short = true;
                    done += written / BLOCK * BLOCK;
                }
                Ok(_) => return (Err(io::ErrorKind::WriteZero.into()), buf),
                Err(error) => return (Err(error), buf),
            }
        }
        (Ok(()), buf)
    }

    pub(crate) async fn sync_data(&self) -> io::Result<()> {
        let op = Op::begin(&self.reactor, Rc::clone(&self.fd), IfDropped::Finish, |fd| {
            Fsync::new(Fd(fd.as_raw_fd())).flags(FsyncFlags::DATASYNC).build()
        });
        op.await.0.map(drop)
    }

    /// Allocates from the start to `len`, and makes that the size.
    pub(crate) async fn allocate(&self, len: u64) -> io::Result<()> {
        let op = Op::begin(&self.reactor, Rc::clone(&self.fd), IfDropped::Finish, |fd| {
            Fallocate::new(Fd(fd.as_raw_fd()), len).build()
        });
        op.await.0.map(drop)
    }

    pub(crate) async fn close(self) -> io::Result<()> {
        // With an operation under way, the last of them closes it.
        let Ok(fd) = Rc::try_unwrap(self.fd) else { return Ok(()) };
        let raw = fd.into_raw_fd();
        let op = Op::begin(&self.reactor, (), IfDropped::Finish, |()| Close::new(Fd(raw)).build());
        op.await.0.map(drop)
    }
}
