//! Bookmarks: what a scan of each log's last segment would find up to a place in it, so that a start after a crash scans
//! only what lies behind.
//!
//! ```text
//!   last segment of a log   ├──────── on the medium ────────┤─── appended since ───┤
//!                           base                      bookmark's place            end
//!   after a crash           indexes, epochs, producers as    scanned batch by batch
//!                           the bookmark says
//! ```
//!
//! A shard writes those of all its logs in a directory into one file, `ringlog-bookmarks-<shard>` ([`file`]), once what
//! they speak of is in the segments and synced ([`write`]). They are a cache: a file that is missing, damaged or of
//! another version counts as none. Nor is one believed that is there: the segment must be as long, and the last batch before the
//! place must be the one that the bookmark names, whole ([`resume`]). A log that was cut and written anew doesn't have it,
//! nor has one of another life of its topic. What lies before the place isn't looked at, as in closed segments.
pub(crate) mod file;
pub(crate) mod mark;
mod resume;
pub(crate) mod write;

pub use file::DirBookmarks;
