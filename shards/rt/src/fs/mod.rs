//! Files by direct I/O.
//!
//! Nothing is durable before a sync: contents and sizes by [`File::sync_data`], names by [`sync_dir`]. After
//! any failed write or sync, what is on disk is unknown, and no later sync makes up for it.

mod buf;
mod file;
mod lock;
mod names;
mod volume;

pub use buf::{BLOCK, IoBuf};
pub(crate) use file::Durable;
pub use file::{File, OpenMode};
pub use lock::{FileLock, try_lock};
pub use names::{
    DirEntry, Space, create_dir_all, exists, free_space, read, read_dir, remove_dir_all, remove_file, rename,
    space, sync_dir, write_atomic,
};
pub use volume::Volume;
