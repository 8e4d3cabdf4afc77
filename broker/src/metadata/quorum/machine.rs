//! raft-rs as a pure machine: entries in, frames to persist out, committed entries out.

use bytes::Bytes;
use raft::eraftpb::Entry;
use raft::{Config, RawNode, Ready, StateRole};

use super::error::QuorumError;
use super::frame::Frame;
use super::raft_store::RaftStore;
use super::slog_drain;

/// Ticks raft-rs would wait before an election. Nothing ticks in a quorum of one, which elects itself at once; the
/// range is one tick wide all the same, because raft-rs draws from it by thread_rng, which no seed controls.
const ELECTION_TICKS: usize = 10;

/// A committed entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Committed {
    pub(super) index: u64,
    pub(super) term: u64,
    /// Empty for the entry that a new leader starts its term with.
    pub(super) data: Bytes,
}

/// A voter.
///
/// Contract: after [`Machine::campaign`] or [`Machine::propose`], while [`Machine::flush`] gives a frame, persist it and
/// call [`Machine::persisted`]. Between the two, call nothing else.
pub(super) struct Machine {
    node: RawNode<RaftStore>,
    ready: Option<Ready>,
}

impl Machine {
    /// A voter with what its files held; entries up to `applied` are in its image.
    pub(super) fn new(raft_id: u64, store: RaftStore, applied: u64) -> Result<Self, QuorumError> {
        let config = Config {
            id: raft_id,
            election_tick: ELECTION_TICKS,
            heartbeat_tick: 1,
            min_election_tick: ELECTION_TICKS,
            max_election_tick: ELECTION_TICKS + 1,
            applied,
            max_size_per_msg: u64::MAX,
            ..Default::default()
        };
        let node = RawNode::new(&config, store, &slog_drain::logger())?;
        Ok(Self { node, ready: None })
    }

    /// Stands for election; a quorum of one wins it.
    pub(super) fn campaign(&mut self) -> Result<(), QuorumError> {
        self.node.campaign()?;
        if self.node.raft.state != StateRole::Leader {
            return Err(QuorumError::Raft("a quorum of one didn't elect itself".into()));
        }
        Ok(())
    }

    /// Adds an entry; gives its index and term.
    pub(super) fn propose(&mut self, data: Bytes) -> Result<(u64, u64), QuorumError> {
        // `Vec::from` takes the buffer over where it is the only one.
        self.node.propose(Vec::new(), Vec::from(data))?;
        Ok((self.node.raft.raft_log.last_index(), self.node.raft.term))
    }

    /// What must be persisted next, if anything.
    pub(super) fn flush(&mut self) -> Option<Frame> {
        assert!(self.ready.is_none(), "the last frame isn't persisted yet");
        if !self.node.has_ready() {
            return None;
        }
        let ready = self.node.ready();
        let hard_state = ready.hs().unwrap_or_else(|| self.node.store().hard_state()).clone();
        let frame = Frame { hard_state, entries: ready.entries().clone() };
        self.ready = Some(ready);
        Some(frame)
    }

    /// The frame is durable: what is committed now.
    pub(super) fn persisted(&mut self) -> Vec<Committed> {
        let Some(mut ready) = self.ready.take() else { return Vec::new() };
        let store = self.node.mut_store();
        store.append(ready.entries());
        if let Some(hard_state) = ready.hs() {
            store.set_hard_state(hard_state.clone());
        }
        let mut committed = ready.take_committed_entries();
        let mut light = self.node.advance(ready);
        committed.extend(light.take_committed_entries());
        if let Some(commit) = light.commit_index() {
            self.node.mut_store().set_commit(commit);
        }
        self.node.advance_apply();
        if let Some(last) = committed.last() {
            self.node.mut_store().compact(last.index);
        }
        committed.into_iter().map(Committed::from).collect()
    }

    /// The hard state as it was last known.
    pub(super) fn hard_state(&self) -> raft::eraftpb::HardState {
        self.node.raft.hard_state()
    }
}

impl From<Entry> for Committed {
    fn from(mut entry: Entry) -> Self {
        Self { index: entry.index, term: entry.term, data: entry.take_data() }
    }
}

impl std::fmt::Debug for Machine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Machine").field("term", &self.node.raft.term).finish_non_exhaustive()
    }
}
