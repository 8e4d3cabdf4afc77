//! Real files: direct ones and buffered ones on the engine's rings, names on the helper threads.

mod file;
mod lock;
pub(crate) mod names;
pub(crate) mod probe;
mod volume;

pub(crate) use file::File;
pub(crate) use lock::FileLock;
pub(crate) use volume::Volume;

use std::io;

/// The operating system's error alone, with its number: callers tell ENOSPC from EIO by it, and know the
/// path.
fn io_error(error: glommio::GlommioError<()>) -> io::Error {
    match error {
        glommio::GlommioError::EnhancedIoError { source, .. } => source,
        other => other.into(),
    }
}
