//! File formats, the machine, refusals.

mod files;
mod formats;
mod machine;

use bytes::Bytes;
use raft::eraftpb::{Entry, HardState};

use super::frame::Frame;

fn entry(index: u64, term: u64, data: &'static [u8]) -> Entry {
    let mut entry = Entry::default();
    entry.set_index(index);
    entry.set_term(term);
    entry.set_data(Bytes::from_static(data));
    entry
}

fn frame(term: u64, entries: Vec<Entry>) -> Frame {
    let mut hard_state = HardState::default();
    hard_state.set_term(term);
    hard_state.set_vote(2);
    Frame { hard_state, entries }
}
