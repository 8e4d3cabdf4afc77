//! What raft-rs reads: hard state, voters, entries in memory.

use std::collections::VecDeque;

use raft::eraftpb::{ConfState, Entry, HardState, Snapshot};
use raft::util::limit_size;
use raft::{Error, GetEntriesContext, RaftState, Result, Storage, StorageError};

/// The log as far as memory holds it; its files are the driver's.
///
/// Entries follow `start_index` without gaps. Applied ones are dropped: only followers that are behind would want them, and there are none.
#[derive(Debug)]
pub(super) struct RaftStore {
    hard_state: HardState,
    voters: ConfState,
    start_index: u64,
    start_term: u64,
    entries: VecDeque<Entry>,
}

impl RaftStore {
    pub(super) fn new(raft_id: u64, hard_state: HardState, start: (u64, u64), entries: Vec<Entry>) -> Self {
        let voters = ConfState::from((vec![raft_id], vec![]));
        Self { hard_state, voters, start_index: start.0, start_term: start.1, entries: entries.into() }
    }

    pub(super) fn hard_state(&self) -> &HardState {
        &self.hard_state
    }

    pub(super) fn set_hard_state(&mut self, hard_state: HardState) {
        self.hard_state = hard_state;
    }

    pub(super) fn set_commit(&mut self, commit: u64) {
        self.hard_state.commit = commit;
    }

    /// Appends entries, replacing those of the same index and all after.
    pub(super) fn append(&mut self, entries: &[Entry]) {
        let Some(first) = entries.first() else { return };
        let keep = first.index.checked_sub(self.start_index + 1);
        let keep = keep.and_then(|keep| usize::try_from(keep).ok());
        let keep = keep.filter(|keep| *keep <= self.entries.len());
        assert!(keep.is_some(), "entry {} doesn't follow the log", first.index);
        self.entries.truncate(keep.unwrap_or_default());
        self.entries.extend(entries.iter().cloned());
    }

    /// Drops entries up to `applied`.
    pub(super) fn compact(&mut self, applied: u64) {
        while self.start_index < applied {
            let Some(first) = self.entries.pop_front() else { return };
            (self.start_index, self.start_term) = (first.index, first.term);
        }
    }

    fn position(&self, index: u64) -> Option<usize> {
        usize::try_from(index.checked_sub(self.start_index + 1)?).ok()
    }
}

impl Storage for RaftStore {
    fn initial_state(&self) -> Result<RaftState> {
        Ok(RaftState::new(self.hard_state.clone(), self.voters.clone()))
    }

    fn entries(
        &self,
        low: u64,
        high: u64,
        max_size: impl Into<Option<u64>>,
        _context: GetEntriesContext,
    ) -> Result<Vec<Entry>> {
        let from = self.position(low).ok_or(Error::Store(StorageError::Compacted))?;
        let to = self.position(high).filter(|to| *to <= self.entries.len());
        let to = to.ok_or(Error::Store(StorageError::Unavailable))?;
        let mut entries: Vec<_> = self.entries.range(from..to).cloned().collect();
        limit_size(&mut entries, max_size.into());
        Ok(entries)
    }

    fn term(&self, index: u64) -> Result<u64> {
        if index == self.start_index {
            return Ok(self.start_term);
        }
        let position = self.position(index).ok_or(Error::Store(StorageError::Compacted))?;
        let entry = self.entries.get(position).ok_or(Error::Store(StorageError::Unavailable))?;
        Ok(entry.term)
    }

    fn first_index(&self) -> Result<u64> {
        Ok(self.start_index + 1)
    }

    fn last_index(&self) -> Result<u64> {
        Ok(self.start_index + self.entries.len() as u64)
    }

    fn snapshot(&self, _request_index: u64, _to: u64) -> Result<Snapshot> {
        // Only followers that are far behind ask for one, and there are none in a quorum of one.
        Err(Error::Store(StorageError::SnapshotTemporarilyUnavailable))
    }
}
