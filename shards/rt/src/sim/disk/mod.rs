//! The simulated disk, one a node, with the fault model that storage is written against.
//!
//! Until a sync returns, any subset of a write's 512-byte sectors may be on disk, each old or new, never mixed; after
//! a failed sync or write likewise. A file's size is durable with its next sync. A directory entry (create, rename,
//! remove) is durable with the next sync of its directory, and each is there whole or not at all; entries of one
//! directory may survive in any subset, so a file may keep a name whose removal came before a creation that survived.
//! A sync covers what was complete when it began, nothing that completed while it ran.
//!
//! - **Kill**: completed operations stay as they are, synced or not. Those in flight are done, partly done (writes, by
//!   sector) or not done.
//! - **Power cut**: what no sync covered is drawn by lot, sector by sector, from the seed.
//! - After a failed sync the lost changes, also of names, are lost: a later sync that succeeds does not bring them to disk. The running
//!   process still reads them; a process started later does not. A sync of the whole disk tells of each failure since its
//!   [`crate::fs::Volume`] was opened, whoever was told before; one that is opened later tells nothing of it.
//!
//! Not modelled: sectors that change unread (see [`DiskControl::corrupt`]), links, permissions, times.

mod control;
mod fault;
mod file;
mod file_data;
mod lottery;
mod names;
mod pages;
mod state;
mod submit;
mod tree;
mod volume;

pub use control::DiskControl;
pub use fault::{FaultOp, Latency};
pub(crate) use file::File;
pub(crate) use names::{
    create_dir_all, exists, read, read_dir, remove_dir_all, remove_file, rename, space, sync_dir,
    write_atomic,
};
pub(crate) use state::{Disk, Fate, OpId};
pub(crate) use volume::Volume;
