//! Whether a broker has the directory open.

#![expect(clippy::disallowed_types, reason = "runs on the command line's own thread, never on a shard")]

use std::fs::{File, TryLockError};
use std::os::linux::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::cli::error::CliError;

/// Refuses a directory that a running broker has locked, and files in it: what is being written would look damaged.
pub(super) fn refuse_locked(path: &Path) -> Result<(), CliError> {
    let Some(lock) = lock_file(path) else { return Ok(()) };
    if is_held(&lock) {
        let dir = lock.parent().unwrap_or(path).display();
        return Err(CliError::Refused(format!(
            "{dir} belongs to a running broker: stop it first, or read all the same with --force-read, when what is just being \
             written may look damaged"
        )));
    }
    Ok(())
}

/// Refuses a log directory that a running broker has locked.
pub(super) fn refuse_running(dir: &Path) -> Result<(), CliError> {
    match is_held(&dir.join(".lock")) {
        true => Err(in_use(dir)),
        false => Ok(()),
    }
}

fn in_use(dir: &Path) -> CliError {
    let dir = dir.display();
    CliError::Refused(format!(
        "{dir} belongs to a running broker, or another command works on it: stop it first"
    ))
}

/// A log directory's lock, as a broker has it while it runs; given back when dropped.
#[derive(Debug)]
pub(super) struct Held {
    _file: File,
}

/// Takes the lock of a log directory, so that no broker starts on it meanwhile.
///
/// # Errors
/// `Refused`: a broker has it.
pub(super) fn take(dir: &Path) -> Result<Held, CliError> {
    let lock = dir.join(".lock");
    let file = File::options().create(true).truncate(false).write(true).open(&lock);
    let file = file.map_err(|error| super::input::fault(&lock, &error))?;
    // Before it is ours, which would be listed too.
    if is_listed_at(&file) {
        return Err(in_use(dir));
    }
    match file.try_lock() {
        Ok(()) => Ok(Held { _file: file }),
        Err(TryLockError::WouldBlock) => Err(in_use(dir)),
        Err(TryLockError::Error(error)) => Err(super::input::fault(&lock, &error)),
    }
}

/// The lock file of the log directory that a path is or lies in.
fn lock_file(path: &Path) -> Option<PathBuf> {
    let path = path.canonicalize().ok()?;
    let candidates = path.ancestors().take(3).map(|dir| dir.join(".lock"));
    candidates.into_iter().find(|lock| lock.is_file())
}

/// We lock by `flock`, Java by `fcntl`; the kernel lists both. A shared lock that is tried and given back at once finds the
/// first also where the list hides what other containers hold.
fn is_held(lock: &Path) -> bool {
    let Ok(file) = File::open(lock) else { return false };
    if matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)) {
        return true;
    }
    is_listed_at(&file)
}

/// Whether a Java process has locked the file.
fn is_listed_at(file: &File) -> bool {
    let Ok(meta) = file.metadata() else { return false };
    let listed = std::fs::read_to_string("/proc/locks").unwrap_or_default();
    is_listed(&listed, meta.st_dev(), meta.st_ino())
}

/// Whether `/proc/locks` has a lock for writing on a file: `1: POSIX  ADVISORY  WRITE 1234 fd:00:5678 0 EOF`.
pub(super) fn is_listed(locks: &str, device: u64, inode: u64) -> bool {
    // As glibc's makedev puts them together.
    let major = ((device >> 8) & 0xfff) | ((device >> 32) & !0xfff);
    let minor = (device & 0xff) | ((device >> 12) & !0xff);
    let wanted = format!("{major:02x}:{minor:02x}:{inode}");
    locks.lines().any(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        !words.contains(&"->") && words.contains(&"WRITE") && words.contains(&wanted.as_str())
    })
}
