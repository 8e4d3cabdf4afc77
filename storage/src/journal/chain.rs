//! Which frames of a journal count: the state machine of the replay, without any I/O.
//!
//! Within a file: from its first frame on, each the successor of the one before. Between files: the run of files
//! that ends with the one begun last, each continued by the next without a gap. A file's last frame is synced
//! before the next file is begun; so where a link to an older file is broken, that older file was being overwritten,
//! and nothing in it was needed.

use std::collections::BTreeMap;

use protocol::types::Uuid;

use super::frame::{Entry, EntryKind, FrameHeader};

/// A partition, as entries name it.
pub(crate) type PartitionKey = (Uuid, i32);

/// The frames of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FileChain {
    journal: u64,
    /// Set by the first frame.
    lap: Option<u32>,
    first: u64,
    next: u64,
    floor: u64,
    entries: Vec<FoundEntry>,
}

/// An entry, and where its bytes stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FoundEntry {
    pub entry: Entry,
    /// Of its frame.
    pub sequence: u64,
    /// Number of the journal file.
    pub file: u32,
    /// Where its bytes start in that file.
    pub at: u64,
}

impl FileChain {
    /// No frame yet, of the journal with that id.
    pub(crate) fn new(journal: u64) -> Self {
        Self { journal, lap: None, first: 0, next: 0, floor: 0, entries: Vec::new() }
    }

    /// How many files were begun before this one; `None` without a frame.
    pub(crate) fn lap(&self) -> Option<u32> {
        self.lap
    }

    /// Whether a frame may come next, before its CRC is looked at.
    pub(crate) fn expects(&self, header: &FrameHeader) -> bool {
        header.journal == self.journal
            && self.lap.is_none_or(|lap| header.lap == lap && header.sequence == self.next)
            && header.floor <= header.sequence
    }

    /// Takes in a frame that was expected and whose CRC holds.
    pub(crate) fn push(&mut self, header: &FrameHeader, entries: impl IntoIterator<Item = FoundEntry>) {
        if self.lap.is_none() {
            (self.lap, self.first) = (Some(header.lap), header.sequence);
        }
        self.next = header.sequence + 1;
        self.floor = self.floor.max(header.floor);
        self.entries.extend(entries);
    }
}

/// The entries that must be in their segments, in the order of their frames.
pub(crate) fn needed(files: Vec<FileChain>) -> Vec<FoundEntry> {
    let run = newest_run(files);
    let floor = run.iter().map(|file| file.floor).max().unwrap_or(0);
    let mut floors: BTreeMap<PartitionKey, u64> = BTreeMap::new();
    let all = || run.iter().flat_map(|file| &file.entries);
    for found in all().filter(|found| found.entry.kind == EntryKind::Floor) {
        let key = (found.entry.topic_id, found.entry.partition);
        floors.insert(key, found.sequence);
    }
    let is_needed = |found: &&FoundEntry| {
        let key = (found.entry.topic_id, found.entry.partition);
        found.entry.kind == EntryKind::Data
            && found.sequence >= floor
            && floors.get(&key).is_none_or(|floor| found.sequence > *floor)
    };
    all().filter(is_needed).copied().collect()
}

/// The files that belong together, oldest first.
fn newest_run(files: Vec<FileChain>) -> Vec<FileChain> {
    let mut begun: Vec<FileChain> = files.into_iter().filter(|file| file.lap.is_some()).collect();
    begun.sort_by_key(|file| std::cmp::Reverse(file.lap));
    let mut run: Vec<FileChain> = Vec::new();
    for file in begun {
        let continues =
            run.last().is_none_or(|next| file.lap.map(|lap| lap + 1) == next.lap && file.next == next.first);
        if !continues {
            break;
        }
        run.push(file);
    }
    run.reverse();
    run
}

#[cfg(test)]
mod tests;
