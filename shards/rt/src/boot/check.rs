//! The boot check.

use std::path::{Path, PathBuf};

use super::direct_io::{self, DirectIo};
use super::memlock::allow_rings;
use super::{Status, Verdict, io_memory, uring};
use crate::shards::Engine;

/// Oldest kernels the engines run on: the ring engine sleeps with a deadline in `io_uring_enter` itself.
const KERNEL_MIN_GLOMMIO: (u32, u32) = (5, 8);
const KERNEL_MIN_RING: (u32, u32) = (5, 11);

/// Oldest kernel whose rings leave a running thread alone (`IORING_SETUP_DEFER_TASKRUN`). All that io_uring does is charged against the
/// lock limit before 5.12, and the rings themselves again in newer ones.
const KERNEL_GOOD: (u32, u32) = (6, 1);

/// Looks at all that the shards need: kernel, io_uring, locked memory (which only glommio registers), direct I/O in each data directory.
///
/// Without `direct_io` (`ringlog.direct.io=false`) its absence only warns. Makes missing data directories.
pub fn check(data_dirs: &[PathBuf], shards: usize, engine: Engine, direct_io: bool) -> Verdict {
    let mut verdict = Verdict::default();
    kernel(&mut verdict, engine);
    if engine == Engine::Ring {
        match allow_rings(shards) {
            Ok(()) => {
                verdict.add("locked memory", Status::Ok, format!("room for the rings of {shards} shards"))
            }
            // Not every kernel counts them: whether this one does, the first ring tells.
            Err(error) => verdict.add("locked memory", Status::Warn, error.to_string()),
        }
    }
    match uring::probe(engine) {
        Ok(()) => verdict.add("io_uring", Status::Ok, "set up, completed"),
        Err(error) => verdict.add("io_uring", Status::Fail, error.to_string()),
    }
    if engine == Engine::Glommio {
        locked_memory(&mut verdict, shards);
    }
    for dir in data_dirs {
        data_dir(&mut verdict, dir, direct_io);
    }
    verdict
}

fn locked_memory(verdict: &mut Verdict, shards: usize) {
    match io_memory(shards) {
        Ok(bytes) => {
            let text = format!("{} KiB for each ring of {shards} shards", bytes / 1024);
            verdict.add("locked memory", Status::Ok, text);
        }
        Err(error) => verdict.add("locked memory", Status::Fail, error.to_string()),
    }
}

fn kernel(verdict: &mut Verdict, engine: Engine) {
    let oldest = match engine {
        Engine::Glommio => KERNEL_MIN_GLOMMIO,
        Engine::Ring => KERNEL_MIN_RING,
    };
    let name = rustix::system::uname();
    let release = name.release().to_string_lossy();
    let status = match version(&release) {
        Some(version) if version < oldest => Status::Fail,
        Some(version) if version < KERNEL_GOOD => Status::Warn,
        Some(_) => Status::Ok,
        None => Status::Warn,
    };
    let (major, minor) = if status == Status::Fail { oldest } else { KERNEL_GOOD };
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
