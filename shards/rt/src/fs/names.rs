//! Operations on paths.

use std::io;
use std::path::Path;

use bytes::Bytes;

/// One name of a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DirEntry {
    /// The name, without the directory.
    pub name: String,
    /// True for a directory.
    pub is_dir: bool,
    /// The size in bytes; 0 for a directory.
    pub len: u64,
    /// When its content was last changed, in milliseconds since 1970; 0 for a directory, and where the file system doesn't
    /// tell.
    pub modified_ms: i64,
}

/// The names of a directory, in no order.
///
/// # Errors
/// NotFound, NotADirectory and the like.
pub async fn read_dir(path: impl AsRef<Path>) -> io::Result<Vec<DirEntry>> {
    #[cfg(feature = "sim")]
    if crate::sim::facade::is_simulated() {
        return crate::sim::disk::read_dir(path.as_ref()).await;
    }
    crate::real::fs::names::read_dir(path.as_ref()).await
}

/// True if something has that name.
pub async fn exists(path: impl AsRef<Path>) -> bool {
    #[cfg(feature = "sim")]
    if crate::sim::facade::is_simulated() {
        return crate::sim::disk::exists(path.as_ref()).await;
    }
    crate::real::fs::names::exists(path.as_ref()).await
}

/// Makes a directory and those above it that are missing.
///
/// # Errors
/// AlreadyExists when a part of the path is a file.
pub async fn create_dir_all(path: impl AsRef<Path>) -> io::Result<()> {
    #[cfg(feature = "sim")]
    if crate::sim::facade::is_simulated() {
        return crate::sim::disk::create_dir_all(path.as_ref()).await;
    }
    crate::real::fs::names::create_dir_all(path.as_ref()).await
}

/// Gives a file or directory a new name; what had it loses it. Durable after [`sync_dir`] of the directory.
///
/// # Errors
/// NotFound and the like.
pub async fn rename(from: impl AsRef<Path>, to: impl AsRef<Path>) -> io::Result<()> {
    #[cfg(feature = "sim")]
    if crate::sim::facade::is_simulated() {
        return crate::sim::disk::rename(from.as_ref(), to.as_ref()).await;
    }
    crate::real::fs::names::rename(from.as_ref(), to.as_ref()).await
}

/// Removes a file.
///
/// # Errors
/// NotFound and the like.
pub async fn remove_file(path: impl AsRef<Path>) -> io::Result<()> {
    #[cfg(feature = "sim")]
    if crate::sim::facade::is_simulated() {
        return crate::sim::disk::remove_file(path.as_ref()).await;
    }
    crate::real::fs::names::remove_file(path.as_ref()).await
}

/// Removes a directory and all in it.
///
/// # Errors
/// NotFound and the like.
pub async fn remove_dir_all(path: impl AsRef<Path>) -> io::Result<()> {
    #[cfg(feature = "sim")]
    if crate::sim::facade::is_simulated() {
        return crate::sim::disk::remove_dir_all(path.as_ref()).await;
    }
    crate::real::fs::names::remove_dir_all(path.as_ref()).await
}

/// Makes a directory's names durable, as they were when the call began.
///
/// # Errors
/// EIO: which names are durable is unknown from then on.
pub async fn sync_dir(path: impl AsRef<Path>) -> io::Result<()> {
    #[cfg(feature = "sim")]
    if crate::sim::facade::is_simulated() {
        return crate::sim::disk::sync_dir(path.as_ref()).await;
    }
    crate::real::fs::names::sync_dir(path.as_ref()).await
}

/// Reads a whole file.
///
/// # Errors
/// NotFound and the like.
pub async fn read(path: impl AsRef<Path>) -> io::Result<Bytes> {
    #[cfg(feature = "sim")]
    if crate::sim::facade::is_simulated() {
        return crate::sim::disk::read(path.as_ref()).await;
    }
    crate::real::fs::names::read(path.as_ref()).await
}

/// Replaces a file so that a crash leaves the old content or the new, and makes that durable.
///
/// # Errors
/// EIO, ENOSPC and the like: old or new, unknown which.
pub async fn write_atomic(path: impl AsRef<Path>, content: Bytes) -> io::Result<()> {
    #[cfg(feature = "sim")]
    if crate::sim::facade::is_simulated() {
        return crate::sim::disk::write_atomic(path.as_ref(), content).await;
    }
    crate::real::fs::names::write_atomic(path.as_ref(), content).await
}

/// Free space of the file system of `path`, in bytes.
///
/// # Errors
/// NotFound and the like.
pub async fn free_space(path: impl AsRef<Path>) -> io::Result<u64> {
    Ok(space(path).await?.free_bytes)
}

/// How large a file system is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Space {
    /// All of it, in bytes.
    pub total_bytes: u64,
    /// What is taken, in bytes. Less than the difference of the others where some is kept for the system's administrator.
    pub used_bytes: u64,
    /// What this user may still take, in bytes.
    pub free_bytes: u64,
}

/// The space of the file system of `path`.
///
/// # Errors
/// NotFound and the like.
pub async fn space(path: impl AsRef<Path>) -> io::Result<Space> {
    #[cfg(feature = "sim")]
    if crate::sim::facade::is_simulated() {
        return crate::sim::disk::space(path.as_ref()).await;
    }
    crate::real::fs::names::space(path.as_ref()).await
}
