//! A lock file: one process a directory.

use std::io;
use std::path::Path;

/// Held until it is dropped, or until the process dies in whatever way.
#[derive(Debug)]
pub struct FileLock {
    _inner: Inner,
}

#[derive(Debug)]
#[allow(dead_code, reason = "held for its drop")]
enum Inner {
    Real(crate::real::fs::FileLock),
    // Nodes have disks of their own, and a node is one process: nobody competes.
    #[cfg(feature = "sim")]
    Sim,
}

/// Makes the file at `path` if there is none, and locks it. `None` if another process holds it.
///
/// # Errors
/// NotFound for a missing directory, and what else the system says.
pub async fn try_lock(path: impl AsRef<Path>) -> io::Result<Option<FileLock>> {
    #[cfg(feature = "sim")]
    if crate::sim::facade::is_simulated() {
        drop(crate::sim::disk::File::open(path.as_ref(), true).await?);
        return Ok(Some(FileLock { _inner: Inner::Sim }));
    }
    let lock = crate::real::fs::FileLock::try_lock(path.as_ref()).await?;
    Ok(lock.map(|lock| FileLock { _inner: Inner::Real(lock) }))
}
