//! raft-rs as a quorum of one.

use bytes::Bytes;
use raft::Storage;
use raft::eraftpb::HardState;

use super::super::machine::{Committed, Machine};
use super::super::raft_store::RaftStore;
use super::entry;

fn fresh() -> Machine {
    Machine::new(2, RaftStore::new(2, HardState::default(), (0, 0), Vec::new()), 0).unwrap()
}

fn settle(machine: &mut Machine) -> Vec<Committed> {
    let mut committed = Vec::new();
    while machine.flush().is_some() {
        committed.extend(machine.persisted());
    }
    committed
}

#[test]
fn it_elects_itself_and_commits() {
    let mut machine = fresh();
    machine.campaign().unwrap();
    let committed = settle(&mut machine);
    assert_eq!(committed, [Committed { index: 1, term: 1, data: Bytes::new() }]);
    let proposed: Vec<_> =
        [b"a", b"b"].iter().map(|data| machine.propose(Bytes::from_static(*data)).unwrap()).collect();
    assert_eq!(proposed, [(2, 1), (3, 1)]);
    // Nothing is committed before it is persisted.
    let frame = machine.flush().unwrap();
    assert_eq!(frame.entries.len(), 2);
    let committed = machine.persisted();
    assert_eq!(committed.iter().map(|c| &c.data[..]).collect::<Vec<_>>(), [b"a", b"b"]);
}

#[test]
fn a_restart_commits_what_is_in_the_log() {
    let mut hard_state = HardState::default();
    (hard_state.term, hard_state.vote, hard_state.commit) = (4, 2, 11);
    let entries = vec![entry(11, 4, b"x"), entry(12, 4, b"y")];
    let mut machine = Machine::new(2, RaftStore::new(2, hard_state, (10, 3), entries), 10).unwrap();
    machine.campaign().unwrap();
    let committed: Vec<_> = settle(&mut machine).into_iter().map(|c| (c.index, c.term, c.data)).collect();
    let bytes = Bytes::from_static;
    assert_eq!(committed, [(11, 4, bytes(b"x")), (12, 4, bytes(b"y")), (13, 5, bytes(b""))]);
}

/// A thousand of them were, of up to 8 MiB each.
#[test]
fn applied_entries_arent_kept() {
    let mut store = RaftStore::new(2, HardState::default(), (0, 0), Vec::new());
    let entries: Vec<_> = (1..=20).map(|index| entry(index, 1, b"")).collect();
    store.append(&entries);
    store.compact(4);
    assert_eq!((store.first_index(), store.last_index()), (Ok(5), Ok(20)));
    assert_eq!((store.term(4), store.term(3).is_err()), (Ok(1), true));
    store.append(&[entry(18, 2, b"")]);
    assert_eq!((store.last_index(), store.term(18)), (Ok(18), Ok(2)));
    store.compact(18);
    assert_eq!((store.first_index(), store.last_index(), store.term(18)), (Ok(19), Ok(18), Ok(2)));
}

#[test]
fn it_goes_on_without_its_applied_entries() {
    let mut machine = fresh();
    machine.campaign().unwrap();
    settle(&mut machine);
    for index in 2..50 {
        assert_eq!(machine.propose(Bytes::from_static(b"x")).unwrap(), (index, 1));
        assert_eq!(settle(&mut machine).len(), 1);
    }
}
