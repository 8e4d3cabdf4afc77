//! A lock file: one process a directory.

#![allow(clippy::disallowed_types, reason = "opened on a helper thread")]

use std::fs::File;
use std::io;
use std::path::Path;

use rustix::fs::{FlockOperation, flock};

use crate::real::current;

/// Held until it is dropped, or the process dies.
#[derive(Debug)]
pub(crate) struct FileLock {
    _file: File,
}

impl FileLock {
    /// `None` if another process holds it.
    pub(crate) async fn try_lock(path: &Path) -> io::Result<Option<FileLock>> {
        let path = path.to_owned();
        let lock = move || {
            let file = File::options().create(true).truncate(false).write(true).open(path)?;
            match flock(&file, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => Ok(Some(FileLock { _file: file })),
                Err(rustix::io::Errno::WOULDBLOCK) => Ok(None),
                Err(error) => Err(error.into()),
            }
        };
        let helpers = current::expect("rt::fs").helpers.clone();
        helpers.run(lock).await
    }
}
