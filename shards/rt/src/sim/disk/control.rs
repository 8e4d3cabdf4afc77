//! What a test may do to a node's disk, and see of it, from outside the simulated processes.

use std::cell::RefCell;
use std::io;
use std::path::Path;
use std::rc::Rc;

use bytes::Bytes;

use super::fault::{Fault, FaultOp, Latency};
use super::names::list;
use super::state::Disk;
use crate::sim::node::NodeId;
use crate::sim::world::World;

/// A node's disk in a test's hands; its calls take no virtual time.
pub struct DiskControl {
    disk: Rc<RefCell<Disk>>,
}

impl DiskControl {
    pub(crate) fn new(world: Rc<World>, node: NodeId) -> DiskControl {
        DiskControl { disk: world.disk(node) }
    }

    /// Fails with EIO (with ENOSPC what a full disk refuses) the next `times` operations of kind `op` on paths that contain `path_part` (empty: all paths);
    /// `u32::MAX` fails them for ever.
    pub fn fail(&self, op: FaultOp, path_part: &str, times: u32) {
        self.fail_after(op, path_part, 0, times);
    }

    /// As [`DiskControl::fail`], after letting `skip` such operations pass.
    pub fn fail_after(&self, op: FaultOp, path_part: &str, skip: u32, times: u32) {
        let fault = Fault { op, path_part: path_part.to_owned(), skip, times };
        self.disk.borrow_mut().faults.add(fault);
    }

    /// Ends all injected faults.
    pub fn clear_faults(&self) {
        self.disk.borrow_mut().faults.clear();
    }

    /// Sets the capacity in bytes; what would go beyond it fails with ENOSPC. `None`: endless, as at first.
    pub fn set_capacity(&self, bytes: Option<u64>) {
        self.disk.borrow_mut().capacity = bytes;
    }

    /// Free space in bytes.
    pub fn free_bytes(&self) -> u64 {
        self.disk.borrow().free_bytes()
    }

    /// Sets how long operations take from now on.
    pub fn set_latency(&self, latency: Latency) {
        self.disk.borrow_mut().latency = latency;
    }

    /// Flips the bits of `mask` in one byte of a file, on disk and as processes see it.
    ///
    /// # Errors
    /// NotFound.
    pub fn corrupt(&self, path: impl AsRef<Path>, pos: u64, mask: u8) -> io::Result<()> {
        let mut disk = self.disk.borrow_mut();
        let ino = disk.find(path.as_ref())?;
        disk.file_mut(ino)?.corrupt(pos, mask);
        Ok(())
    }

    /// A file's content as processes see it.
    ///
    /// # Errors
    /// NotFound.
    pub fn read_file(&self, path: impl AsRef<Path>) -> io::Result<Bytes> {
        let disk = self.disk.borrow();
        let file = disk.file(disk.find(path.as_ref())?)?;
        Ok(file.read(0, file.len()))
    }

    /// Puts a whole file on the disk, durable at once, with the directories above it: fixtures.
    ///
    /// # Errors
    /// ENOSPC, or a part of the path is a file.
    pub fn put_file(&self, path: impl AsRef<Path>, content: impl Into<Bytes>) -> io::Result<()> {
        let path = path.as_ref();
        let mut disk = self.disk.borrow_mut();
        disk.create_dir_all(path.parent().unwrap_or(Path::new("/")))?;
        let ino = disk.open_file(path, true)?;
        disk.change_file(ino, 0, |file, seq| file.set_len(seq, 0))?;
        disk.write(ino, 0, content.into())?;
        let upto = disk.last_seq();
        disk.sync_all(upto);
        Ok(())
    }

    /// The names in a directory, sorted; empty if there is none.
    pub fn names(&self, dir: impl AsRef<Path>) -> Vec<String> {
        list(&self.disk.borrow(), dir.as_ref())
            .map_or_else(|_| Vec::new(), |entries| entries.into_iter().map(|entry| entry.name).collect())
    }
}

impl std::fmt::Debug for DiskControl {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DiskControl").field("free_bytes", &self.free_bytes()).finish()
    }
}
