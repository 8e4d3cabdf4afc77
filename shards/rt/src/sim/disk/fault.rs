//! Faults a test injects into a disk, and how long its operations take.

use std::io;
use std::ops::RangeInclusive;

/// Which operations a fault hits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultOp {
    /// Reads of a file.
    Read,
    /// Writes to a file; any subset of the failed write's sectors is on disk.
    Write,
    /// Syncs of a file, a directory or the disk; any subset of what they should have covered is on disk.
    Sync,
    /// Renames by [`crate::fs::rename`]: no space for the new name.
    Rename,
    /// Renames: EBUSY, as of a mount point.
    RenameBusy,
}

/// EIO, ENOSPC or EBUSY for operations of one kind on paths that contain a text.
#[derive(Clone, Debug)]
pub(crate) struct Fault {
    pub(crate) op: FaultOp,
    pub(crate) path_part: String,
    /// Operations to let pass first.
    pub(crate) skip: u32,
    /// Operations to fail then; the fault is used up after them.
    pub(crate) times: u32,
}

/// The faults of one disk.
#[derive(Debug, Default)]
pub(crate) struct Faults(Vec<Fault>);

impl Faults {
    pub(crate) fn add(&mut self, fault: Fault) {
        self.0.push(fault);
    }

    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    /// The error that an operation on `path` meets, if any; uses up one of the fault's times.
    pub(crate) fn strike(&mut self, op: FaultOp, path: &str) -> io::Result<()> {
        for fault in &mut self.0 {
            if fault.op != op || fault.times == 0 || !path.contains(&fault.path_part) {
                continue;
            }
            if fault.skip > 0 {
                fault.skip -= 1;
                continue;
            }
            fault.times = if fault.times == u32::MAX { u32::MAX } else { fault.times - 1 };
            return Err(match op {
                FaultOp::Rename => enospc(),
                FaultOp::RenameBusy => io::Error::from_raw_os_error(16),
                FaultOp::Read | FaultOp::Write | FaultOp::Sync => eio(),
            });
        }
        Ok(())
    }
}

/// How long operations take, in microseconds of virtual time, drawn from the seed within each range.
#[derive(Clone, Debug)]
pub struct Latency {
    /// A read.
    pub read_us: RangeInclusive<u64>,
    /// A write.
    pub write_us: RangeInclusive<u64>,
    /// A sync.
    pub sync_us: RangeInclusive<u64>,
    /// Opening, creating, renaming, removing, listing.
    pub name_us: RangeInclusive<u64>,
    /// Of a hundred operations this many are slow.
    pub slow_percent: u64,
    /// What a slow one takes in addition.
    pub slow_us: RangeInclusive<u64>,
}

impl Default for Latency {
    /// An NVMe-like disk with a rare hiccup.
    fn default() -> Latency {
        Latency {
            read_us: 40..=120,
            write_us: 20..=150,
            sync_us: 100..=600,
            name_us: 5..=60,
            slow_percent: 1,
            slow_us: 1_000..=20_000,
        }
    }
}

/// EIO.
pub(crate) fn eio() -> io::Error {
    io::Error::from_raw_os_error(5)
}

/// ENOSPC.
pub(crate) fn enospc() -> io::Error {
    io::Error::from_raw_os_error(28)
}
