//! What the device under a data directory takes: sequential against random direct writes, through the same
//! `rt::fs` that the broker writes by, beside `fio` on the same directory.
//!
//! ```text
//!   line          pattern, block size, queue depth
//!   ├ ours        `depth` tasks of one shard, each with one write under way
//!   ├ fio         the same by fio's io_uring engine, where fio is installed
//!   └ in turn     ours, fio; fio, ours; ...: medians
//! ```
//! Each line writes a fresh, preallocated file, as a segment of a log is; neither side syncs within the measured
//! time. What `rt::fs` doesn't offer and fio does: a write larger than 1 MiB is cut into pieces that go one after
//! the other, so larger blocks aren't measured.

mod args;
mod fio;
mod line;
mod result;
mod run;
mod table;
mod write;

#[cfg(test)]
mod tests;

pub use args::DiskArgs;
pub use line::{DiskLine, LINES, Pattern};
pub use result::{DiskLineResult, DiskResult, Reached};
pub use run::disk;
