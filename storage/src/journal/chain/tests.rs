use super::*;
use crate::{FilePos, LeaderEpoch, Offset};

const JOURNAL: u64 = 5;

fn header(lap: u32, sequence: u64) -> FrameHeader {
    FrameHeader { journal: JOURNAL, lap, sequence, floor: 0, entries: 1, bytes: 200 }
}

fn found(kind: EntryKind, partition: i32, sequence: u64) -> FoundEntry {
    let entry = Entry {
        kind,
        topic_id: Uuid([1; 16]),
        partition,
        leader_epoch: LeaderEpoch(0),
        base: Offset(0),
        segment: Offset(0),
        position: FilePos(0),
        bytes: 10,
    };
    FoundEntry { entry, sequence, file: 0, at: 0 }
}

/// A file with one data entry of partition 0 a frame.
fn file(lap: u32, sequences: std::ops::Range<u64>) -> FileChain {
    let mut chain = FileChain::new(JOURNAL);
    for sequence in sequences {
        let header = header(lap, sequence);
        assert!(chain.expects(&header));
        chain.push(&header, [found(EntryKind::Data, 0, sequence)]);
    }
    chain
}

fn sequences(files: Vec<FileChain>) -> Vec<u64> {
    needed(files).iter().map(|found| found.sequence).collect()
}

#[test]
fn only_the_successor_is_expected() {
    let chain = file(3, 10..12);
    assert!(chain.expects(&header(3, 12)));
    assert!(!chain.expects(&header(3, 11)), "a repeated one");
    assert!(!chain.expects(&header(3, 13)), "one was lost");
    assert!(!chain.expects(&header(2, 12)), "of an older lap");
    assert!(!chain.expects(&FrameHeader { journal: 6, ..header(3, 12) }), "of another journal");
    assert!(!chain.expects(&FrameHeader { floor: 13, ..header(3, 12) }), "a floor to come");
}

#[test]
fn files_follow_one_another_by_lap() {
    assert_eq!(sequences(vec![file(6, 30..32), file(4, 10..20), file(5, 20..30)]), Vec::from_iter(10..32));
}

#[test]
fn an_unused_file_says_nothing() {
    assert_eq!(sequences(vec![FileChain::new(JOURNAL), file(0, 1..3)]), [1, 2]);
    assert_eq!(sequences(vec![FileChain::new(JOURNAL)]), [0; 0]);
}

#[test]
fn a_file_that_was_being_overwritten_is_left_out() {
    // Its first frame is still the old one, and those behind it are gone.
    assert_eq!(sequences(vec![file(4, 10..11), file(5, 20..30), file(6, 30..31)]), Vec::from_iter(20..31));
}

#[test]
fn frames_behind_a_lost_one_are_left_out() {
    // Nothing of the last lap was synced: its frame 31 is lost, 32 isn't looked at.
    assert_eq!(sequences(vec![file(5, 20..30), file(6, 30..31)]), Vec::from_iter(20..31));
}

#[test]
fn laps_with_a_gap_are_not_joined() {
    assert_eq!(sequences(vec![file(3, 10..20), file(5, 20..22)]), [20, 21]);
}

#[test]
fn nothing_before_the_floor_counts() {
    let mut last = file(6, 30..31);
    let checkpoint = FrameHeader { floor: 25, ..header(6, 31) };
    last.push(&checkpoint, []);
    assert_eq!(sequences(vec![file(5, 20..30), last]), Vec::from_iter(25..31));
}

#[test]
fn a_partitions_floor_voids_its_earlier_entries_only() {
    let mut chain = FileChain::new(JOURNAL);
    chain.push(&header(0, 1), [found(EntryKind::Data, 0, 1), found(EntryKind::Data, 1, 1)]);
    chain.push(&header(0, 2), [found(EntryKind::Floor, 0, 2)]);
    chain.push(&header(0, 3), [found(EntryKind::Data, 0, 3)]);
    let left: Vec<(u64, i32)> =
        needed(vec![chain]).iter().map(|found| (found.sequence, found.entry.partition)).collect();
    assert_eq!(left, [(1, 1), (3, 0)]);
}
