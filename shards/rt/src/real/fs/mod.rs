//! Real files: direct ones on glommio's rings, small ones through the page cache, names on the helper
//! threads.

mod file;
mod lock;
pub(crate) mod names;
pub(crate) mod probe;

pub(crate) use file::File;
pub(crate) use lock::FileLock;

use std::io;

/// glommio's errors carry an operating system error inside, which callers match on.
fn io_error(error: glommio::GlommioError<()>) -> io::Error {
    error.into()
}
