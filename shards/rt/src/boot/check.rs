//! The boot check.

use std::path::{Path, PathBuf};

use super::direct_io::{self, DirectIo};
use super::{Status, Verdict, io_memory, uring};

/// Oldest kernel glommio runs on.
const KERNEL_MIN: (u32, u32) = (5, 8);

/// Oldest kernel whose io_uring isn't charged against the lock limit for the rings themselves.
const KERNEL_GOOD: (u32, u32) = (5, 12);

/// Looks at all that the shards need: kernel, io_uring, locked memory, direct I/O in each data directory.
///
/// Without `direct_io` (`ringlog.direct.io=false`) its absence only warns. Makes missing data directories.
pub fn check(data_dirs: &[PathBuf], shards: usize, direct_io: bool) -> Verdict {
    let mut verdict = Verdict::default();
    kernel(&mut verdict);
    match uring::probe() {
        Ok(()) => verdict.add("io_uring", Status::Ok, "set up, registered, completed"),
        Err(error) => verdict.add("io_uring", Status::Fail, error.to_string()),
    }
    match io_memory(shards) {
        Ok(bytes) => {
            let text = format!("{} KiB for each ring of {shards} shards", bytes / 1024);
            verdict.add("locked memory", Status::Ok, text);
        }
        Err(error) => verdict.add("locked memory", Status::Fail, error.to_string()),
    }
    for dir in data_dirs {
        data_dir(&mut verdict, dir, direct_io);
    }
    verdict
}

fn kernel(verdict: &mut Verdict) {
    let name = rustix::system::uname();
    let release = name.release().to_string_lossy();
    let status = match version(&release) {
        Some(version) if version < KERNEL_MIN => Status::Fail,
        Some(version) if version < KERNEL_GOOD => Status::Warn,
        Some(_) => Status::Ok,
        None => Status::Warn,
    };
    let (major, minor) = if status == Status::Fail { KERNEL_MIN } else { KERNEL_GOOD };
    let text = match status {
        Status::Ok => release.into_owned(),
        Status::Warn | Status::Fail => format!("{release}: {major}.{minor} or newer is needed"),
    };
    verdict.add("kernel", status, text);
}

pub(super) fn version(release: &str) -> Option<(u32, u32)> {
    let mut parts = release.split(|c: char| !c.is_ascii_digit());
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

fn data_dir(verdict: &mut Verdict, dir: &Path, direct_io: bool) {
    let what = format!("direct I/O {}", dir.display());
    match direct_io::probe(dir) {
        Ok(DirectIo::Works) => verdict.add(what, Status::Ok, "written and read back"),
        Ok(DirectIo::Missing(why)) if direct_io => {
            let text = format!("{why}: use ext4 or xfs, or set ringlog.direct.io=false and lose speed");
            verdict.add(what, Status::Fail, text);
        }
        Ok(DirectIo::Missing(why)) => {
            verdict.add(what, Status::Warn, format!("{why}, and ringlog.direct.io=false allows that"));
        }
        Err(error) => verdict.add(what, Status::Fail, error.to_string()),
    }
}
