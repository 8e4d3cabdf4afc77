//! Sessions over partitions that come, change and go.

use std::collections::BTreeSet;
use std::time::Duration;

use protocol::types::{Str, Uuid};

use super::{FetchEntry, FetchName, FetchSessions, SESSION_PARTITIONS_MAX, SessionError};

fn name(partition: i32) -> FetchName {
    FetchName { topic: Str::from_static("t"), topic_id: Uuid::ZERO, partition }
}

fn entry(partition: i32, offset: i64) -> FetchEntry {
    let (bytes_max, leader_epoch, last_fetched_epoch, told) = (1, -1, -1, None);
    FetchEntry { name: name(partition), offset, bytes_max, leader_epoch, last_fetched_epoch, told }
}

fn quiet(entries: Vec<FetchEntry>) -> Vec<(FetchEntry, bool)> {
    entries.into_iter().map(|entry| (entry, false)).collect()
}

fn spots(entries: &[FetchEntry]) -> Vec<(i32, i64)> {
    entries.iter().map(|entry| (entry.name.partition, entry.offset)).collect()
}

/// Runs under the simulator, whose clock and randomness the sessions use.
fn simulated(test: fn()) {
    let sim = rt::sim::Sim::new(1);
    let node = sim.node("n");
    node.start(1, move |_| async move { test() });
    sim.run_until(Duration::from_secs(1), || node.is_finished()).unwrap();
}

fn over(sessions: &FetchSessions, entries: Vec<FetchEntry>) -> i32 {
    let id = sessions.open(false);
    sessions.put(id, quiet(entries));
    id
}

#[test]
fn partitions_are_added_changed_and_forgotten_in_order() {
    simulated(|| {
        let sessions = FetchSessions::new(4);
        let id = over(&sessions, vec![entry(3, 0), entry(1, 0), entry(2, 0)]);
        let forgotten = BTreeSet::from([name(1), name(9)]);
        let changed = vec![entry(8, 5), entry(2, 7), entry(0, 6)];
        let now = sessions.advance(id, 1, changed, &forgotten, false).unwrap();
        assert_eq!(spots(&now), [(3, 0), (2, 7), (8, 5), (0, 6)]);
        let told = now.into_iter().map(|entry| (entry.clone(), entry.name.partition == 3)).collect();
        sessions.put(id, told);
        let now = sessions.advance(id, 2, Vec::new(), &BTreeSet::new(), false).unwrap();
        assert_eq!(spots(&now), [(2, 7), (8, 5), (0, 6), (3, 0)], "who gave records comes last");
    });
}

#[test]
fn a_fetch_that_was_given_up_ends_the_session() {
    simulated(|| {
        let sessions = FetchSessions::new(4);
        let id = over(&sessions, vec![entry(0, 0)]);
        drop(sessions.advance(id, 1, Vec::new(), &BTreeSet::new(), false).unwrap());
        for epoch in [2, 2] {
            let refused = sessions.advance(id, epoch, Vec::new(), &BTreeSet::new(), false);
            assert_eq!(refused.err(), Some(SessionError::NotFound));
        }
    });
}

#[test]
fn a_session_has_an_end() {
    simulated(|| {
        let sessions = FetchSessions::new(4);
        let many = |count| (0..count as i32).map(|partition| entry(partition, 0)).collect::<Vec<_>>();
        let id = over(&sessions, many(SESSION_PARTITIONS_MAX));
        let forgotten: BTreeSet<FetchName> = (0..SESSION_PARTITIONS_MAX as i32 / 2).map(name).collect();
        let now = sessions.advance(id, 1, many(SESSION_PARTITIONS_MAX), &forgotten, false).unwrap();
        assert_eq!(now.len(), SESSION_PARTITIONS_MAX);
        let mut now = quiet(now);
        now.push((entry(-1, 0), false));
        sessions.put(id, now);
        let refused = sessions.advance(id, 2, Vec::new(), &BTreeSet::new(), false);
        assert_eq!(refused.err(), Some(SessionError::NotFound));
    });
}
