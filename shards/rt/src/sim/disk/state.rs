//! [`Disk`]: one node's disk, its operations in flight, and what a crash makes of both.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use bytes::Bytes;

use super::fault::{FaultOp, Faults, Latency, enospc};
use super::file_data::FileData;
use super::lottery::Lottery;
use super::tree::{Ino, ROOT, Tree};
use crate::sim::rng::Rng;

/// Size of a disk without a set capacity, in bytes.
const ENDLESS_BYTES: u64 = 1 << 50;

/// Names an operation in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct OpId(pub(crate) u64);

/// How an operation in flight ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It completes.
    Done,
    /// The process was killed: done, partly done or not done.
    Killed,
    /// The power went: as unsynced as anything can be.
    PowerCut,
}

/// An operation in flight: changes the disk by its fate, and hands its result to whoever still waits.
pub(crate) type Op = Box<dyn FnOnce(&mut Disk, Fate, &Rng)>;

/// One node's disk. It outlives the node's processes.
pub(crate) struct Disk {
    pub(crate) tree: Tree,
    files: BTreeMap<Ino, FileData>,
    // Open handles of the running process, per file.
    open: BTreeMap<Ino, u32>,
    pub(crate) faults: Faults,
    pub(crate) latency: Latency,
    /// In bytes; `None` is as good as endless.
    pub(crate) capacity: Option<u64>,
    /// The node's wall clock when the last operation ended, in ms since 1970.
    pub(crate) now_ms: i64,
    used: u64,
    in_flight: BTreeMap<OpId, Op>,
    next_op: u64,
    next_ino: u64,
    // Orders changes against syncs: a sync covers the changes that were complete when it began.
    seq: u64,
    failed_syncs: u64,
}

impl Disk {
    pub(crate) fn new() -> Disk {
        Disk {
            tree: Tree::new(),
            files: BTreeMap::new(),
            open: BTreeMap::new(),
            faults: Faults::default(),
            latency: Latency::default(),
            capacity: None,
            now_ms: 0,
            used: 0,
            in_flight: BTreeMap::new(),
            next_op: 0,
            next_ino: ROOT.0 + 1,
            seq: 0,
            failed_syncs: 0,
        }
    }

    // ---- operations in flight

    pub(crate) fn start(&mut self, op: Op) -> OpId {
        let id = OpId(self.next_op);
        self.next_op += 1;
        self.in_flight.insert(id, op);
        id
    }

    /// Completes an operation; `false` if a crash was faster.
    pub(crate) fn complete(&mut self, id: OpId, rng: &Rng) -> bool {
        match self.in_flight.remove(&id) {
            Some(op) => {
                op(self, Fate::Done, rng);
                true
            }
            None => false,
        }
    }

    /// The node crashed: operations in flight end by `fate`, in any order, then the disk itself takes it.
    pub(crate) fn crash(&mut self, fate: Fate, rng: &Rng) {
        let mut ops: Vec<Op> = std::mem::take(&mut self.in_flight).into_values().collect();
        while !ops.is_empty() {
            let op = ops.swap_remove(rng.index(ops.len()));
            op(self, fate, rng);
        }
        self.open.clear();
        let lottery = Lottery::new(rng);
        if fate == Fate::PowerCut {
            self.tree.power_cut(&lottery);
            self.files.values_mut().for_each(|file| file.power_cut(&lottery));
        } else {
            self.tree.killed();
            self.files.values_mut().for_each(FileData::killed);
        }
        self.sweep();
    }

    // Frees what nothing leads to, and counts the used space anew.
    fn sweep(&mut self) {
        let reachable = self.tree.reachable();
        self.tree.retain(&reachable);
        let open = &self.open;
        self.files.retain(|ino, _| reachable.contains(ino) || open.contains_key(ino));
        let linked = self.tree.linked();
        let counted = |ino: &Ino| linked.contains(ino) || open.contains_key(ino);
        self.used = self.files.iter().filter(|(ino, _)| counted(ino)).map(|(_, file)| file.allocated()).sum();
    }

    // ---- files

    pub(crate) fn next_seq(&mut self) -> u64 {
        self.seq += 1;
        self.seq
    }

    /// The last change so far: what a sync that begins now will cover.
    pub(crate) fn last_seq(&self) -> u64 {
        self.seq
    }

    /// A sync failed, of whatever.
    pub(crate) fn sync_failed(&mut self) {
        self.failed_syncs += 1;
    }

    /// How many syncs failed so far.
    pub(crate) fn failed_syncs(&self) -> u64 {
        self.failed_syncs
    }

    pub(crate) fn file(&self, ino: Ino) -> io::Result<&FileData> {
        self.files.get(&ino).ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))
    }

    pub(crate) fn file_mut(&mut self, ino: Ino) -> io::Result<&mut FileData> {
        self.files.get_mut(&ino).ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))
    }

    pub(crate) fn files_mut(&mut self) -> impl Iterator<Item = &mut FileData> {
        self.files.values_mut()
    }

    pub(crate) fn free_bytes(&self) -> u64 {
        self.capacity.map_or(ENDLESS_BYTES, |capacity| capacity.saturating_sub(self.used))
    }

    pub(crate) fn used_bytes(&self) -> u64 {
        self.used
    }

    pub(crate) fn total_bytes(&self) -> u64 {
        self.capacity.unwrap_or(ENDLESS_BYTES)
    }

    /// Makes a change that may allocate up to `end`, or fails with ENOSPC.
    pub(crate) fn change_file(
        &mut self,
        ino: Ino,
        end: u64,
        change: impl FnOnce(&mut FileData, u64),
    ) -> io::Result<()> {
        let file = self.file(ino)?;
        let before = file.allocated();
        if file.allocated_with(end) - before > self.free_bytes() && file.allocated_with(end) > before {
            return Err(enospc());
        }
        let (seq, now_ms) = (self.next_seq(), self.now_ms);
        let file = self.file_mut(ino)?;
        change(file, seq);
        file.modified_ms = now_ms;
        let after = file.allocated();
        self.used = self.used.saturating_sub(before) + after;
        Ok(())
    }

    pub(crate) fn write(&mut self, ino: Ino, pos: u64, data: Bytes) -> io::Result<()> {
        self.change_file(ino, pos + data.len() as u64, |file, seq| file.write(seq, pos, data))
    }

    /// Writes, and makes that durable. Amid writes that aren't durable it is one of them: nothing else may be relied on.
    pub(crate) fn write_durable(
        &mut self,
        ino: Ino,
        pos: u64,
        data: Bytes,
        path: &str,
        rng: &Rng,
    ) -> io::Result<()> {
        let alone = !self.file(ino)?.is_dirty();
        self.write(ino, pos, data)?;
        let upto = self.seq;
        let struck = self.faults.strike(FaultOp::Sync, path);
        if struck.is_err() {
            self.sync_failed();
            self.file_mut(ino)?.promote_some(upto, &Lottery::new(rng));
        } else if alone {
            self.file_mut(ino)?.promote(upto);
        }
        struck
    }

    pub(crate) fn write_torn(&mut self, ino: Ino, pos: u64, data: &Bytes, rng: &Rng) -> io::Result<()> {
        let lottery = Lottery::new(rng);
        self.change_file(ino, pos + data.len() as u64, |file, seq| file.write_torn(seq, pos, data, &lottery))
    }

    pub(crate) fn opened(&mut self, ino: Ino) {
        *self.open.entry(ino).or_default() += 1;
    }

    pub(crate) fn closed(&mut self, ino: Ino) {
        if let Some(count) = self.open.get_mut(&ino) {
            *count -= 1;
            if *count == 0 {
                self.open.remove(&ino);
                if !self.tree.linked().contains(&ino) {
                    self.sweep();
                }
            }
        }
    }

    // ---- names

    fn new_ino(&mut self) -> Ino {
        let ino = Ino(self.next_ino);
        self.next_ino += 1;
        ino
    }

    pub(crate) fn find(&self, path: &Path) -> io::Result<Ino> {
        self.tree.find(path).ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))
    }

    fn parent(&self, path: &Path) -> io::Result<(Ino, String)> {
        self.tree.parent(path).ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))
    }

    /// The file at `path`, made if `create` and there is none.
    pub(crate) fn open_file(&mut self, path: &Path, create: bool) -> io::Result<Ino> {
        match self.tree.find(path) {
            Some(ino) if self.tree.is_dir(ino) => Err(io::Error::from(io::ErrorKind::IsADirectory)),
            Some(ino) => Ok(ino),
            None if !create => Err(io::Error::from(io::ErrorKind::NotFound)),
            None => {
                let (dir, name) = self.parent(path)?;
                let ino = self.new_ino();
                self.files.insert(ino, FileData::default());
                let seq = self.next_seq();
                self.tree.link(seq, dir, name, ino, false);
                Ok(ino)
            }
        }
    }

    pub(crate) fn create_dir_all(&mut self, path: &Path) -> io::Result<()> {
        let missing: Vec<&Path> =
            path.ancestors().take_while(|path| self.tree.find(path).is_none()).collect();
        for path in missing.into_iter().rev() {
            let (dir, name) = self.parent(path)?;
            let ino = self.new_ino();
            let seq = self.next_seq();
            self.tree.link(seq, dir, name, ino, true);
        }
        if self.tree.is_dir(self.find(path)?) { Ok(()) } else { Err(io::ErrorKind::AlreadyExists.into()) }
    }

    /// As rename(2): what has the new name loses it, unless it is a directory with something in it.
    pub(crate) fn rename(&mut self, from: &Path, to: &Path) -> io::Result<()> {
        let ino = self.find(from)?;
        let (from, to_name) = (self.parent(from)?, self.parent(to)?);
        match self.tree.find(to) {
            Some(old) if old == ino => return Ok(()),
            Some(old) if self.tree.is_dir(old) && !self.tree.is_dir(ino) => {
                return Err(io::ErrorKind::IsADirectory.into());
            }
            Some(old) if !self.tree.is_dir(old) && self.tree.is_dir(ino) => {
                return Err(io::ErrorKind::NotADirectory.into());
            }
            Some(old) if !self.tree.is_empty(old) => return Err(io::ErrorKind::DirectoryNotEmpty.into()),
            _ => {}
        }
        let replaces = self.tree.find(to).is_some();
        let seq = self.next_seq();
        self.tree.rename(seq, from, to_name, ino);
        if replaces {
            self.sweep();
        }
        Ok(())
    }

    pub(crate) fn remove_file(&mut self, path: &Path) -> io::Result<()> {
        let ino = self.find(path)?;
        if self.tree.is_dir(ino) {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        let (dir, name) = self.parent(path)?;
        let seq = self.next_seq();
        self.tree.unlink(seq, dir, name, ino);
        self.sweep();
        Ok(())
    }

    pub(crate) fn remove_dir_all(&mut self, path: &Path) -> io::Result<()> {
        let ino = self.find(path)?;
        if !self.tree.is_dir(ino) {
            return Err(io::ErrorKind::NotADirectory.into());
        }
        let (dir, name) = self.parent(path)?;
        self.empty_dir(ino);
        let seq = self.next_seq();
        self.tree.unlink(seq, dir, name, ino);
        self.sweep();
        Ok(())
    }

    fn empty_dir(&mut self, dir: Ino) {
        let names: Vec<(String, Ino)> = self.tree.names(dir).map(|(name, ino)| (name.clone(), ino)).collect();
        for (name, ino) in names {
            if self.tree.is_dir(ino) {
                self.empty_dir(ino);
            }
            let seq = self.next_seq();
            self.tree.unlink(seq, dir, name, ino);
        }
    }

    /// A sync of the whole disk that began at `upto`.
    pub(crate) fn sync_all(&mut self, upto: u64) {
        self.files.values_mut().filter(|file| file.is_dirty()).for_each(|file| file.promote(upto));
        self.tree.promote(None, upto);
    }
}
