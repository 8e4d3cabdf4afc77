//! Whether a directory's file system does direct I/O.

#![allow(clippy::disallowed_methods, reason = "before any shard runs")]

use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::path::Path;

use rustix::fs::{Mode, OFlags};

use crate::fs::{BLOCK, IoBuf};

/// `f_type` of tmpfs, which takes O_DIRECT and ignores it.
const TMPFS_MAGIC: u64 = 0x0102_1994;

/// What a directory said.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum DirectIo {
    /// Bytes written past the page cache were read back so.
    Works,
    /// The flag is refused or ignored; here is how that was seen.
    Missing(String),
}

/// Writes a block by direct I/O in `dir`, reads it back and removes the file. Makes the directory if it is
/// missing.
///
/// # Errors
/// What keeps a file from being made there at all.
pub(crate) fn probe(dir: &Path) -> io::Result<DirectIo> {
    std::fs::create_dir_all(dir)?;
    if rustix::fs::statfs(dir)?.f_type as u64 == TMPFS_MAGIC {
        return Ok(DirectIo::Missing("tmpfs ignores it".to_owned()));
    }
    let path = dir.join(format!(".boot-probe-{}", std::process::id()));
    let result = probe_file(&path);
    match std::fs::remove_file(&path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => result.and(Err(error)),
        _ => result,
    }
}

fn probe_file(path: &Path) -> io::Result<DirectIo> {
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::TRUNC | OFlags::CLOEXEC;
    let fd = match rustix::fs::open(path, flags | OFlags::DIRECT, Mode::from(0o600)) {
        Ok(fd) => fd,
        Err(rustix::io::Errno::INVAL) => {
            return Ok(DirectIo::Missing("the file system refuses it".to_owned()));
        }
        Err(error) => return Err(error.into()),
    };
    if !is_direct(&fd)? {
        return Ok(DirectIo::Missing("the file system drops the flag".to_owned()));
    }
    let mut page = IoBuf::zeroed(BLOCK);
    page.fill(0xA5);
    match rustix::io::pwrite(fd.as_fd(), &page, 0) {
        Ok(BLOCK) => {}
        Ok(n) => return Err(io::Error::new(io::ErrorKind::WriteZero, format!("wrote {n} of {BLOCK} bytes"))),
        Err(rustix::io::Errno::INVAL | rustix::io::Errno::OPNOTSUPP) => {
            return Ok(DirectIo::Missing("writes of 4096 bytes are refused".to_owned()));
        }
        Err(error) => return Err(error.into()),
    }
    let mut back = IoBuf::zeroed(BLOCK);
    let n = rustix::io::pread(fd.as_fd(), &mut back[..], 0)?;
    if n != BLOCK || back[..] != page[..] {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "direct I/O read back something else"));
    }
    Ok(DirectIo::Works)
}

/// The flag as the kernel keeps it for the open file.
fn is_direct(fd: &OwnedFd) -> io::Result<bool> {
    let info = std::fs::read(format!("/proc/self/fdinfo/{}", fd.as_raw_fd()))?;
    let info = String::from_utf8_lossy(&info);
    let flags = info.lines().find_map(|line| line.strip_prefix("flags:"));
    let flags = flags.and_then(|octal| u32::from_str_radix(octal.trim(), 8).ok());
    Ok(flags.is_some_and(|flags| flags & OFlags::DIRECT.bits() != 0))
}
