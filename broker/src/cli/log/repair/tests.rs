//! Tests of what becomes of logs that are damaged in one way each.

#![expect(clippy::disallowed_methods, clippy::disallowed_types, reason = "tests, on their own thread")]

use std::fs;

use storage::Offset;
use storage::inspect::{self, Checkpoint};

use super::super::input::entry;
use super::super::tests::{Dir, FIRST, SECOND, batch};
use super::super::verify::{Findings, check};
use super::{Repair, Way};

/// Plans, does it, and checks that nothing is wrong any more. Gives what goes and what is left, in words.
fn repair(dir: &Dir, way: Way) -> String {
    let root = dir.path("").canonicalize().unwrap();
    let target = entry(&root).unwrap();
    let planned = Repair::plan(&target, &root, way).unwrap();
    assert!(planned.findings.faults() > 0, "nothing is wrong");
    planned.plans.iter().for_each(|plan| plan.carry_out().unwrap());
    let mut after = Findings::new(&root);
    check(&root, &target.name, &mut after).unwrap();
    let faults: Vec<_> = after.all().iter().filter(|finding| finding.is_fault).collect();
    assert!(faults.is_empty(), "{faults:?}");
    let lost = planned.plans.iter().flat_map(|plan| &plan.lost);
    let lost = lost.map(|lost| format!("{}..{} {}\n", lost.from, lost.upto, lost.records));
    lost.chain(planned.plans.iter().flat_map(|plan| plan.left.clone())).collect()
}

fn names(dir: &Dir) -> Vec<String> {
    let entries = fs::read_dir(dir.path("t-0")).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn has(dir: &Dir, name: &str) -> bool {
    names(dir).iter().any(|found| found == name)
}

fn content(dir: &Dir, name: &str) -> Vec<u8> {
    fs::read(dir.path(name)).unwrap()
}

fn flip(log: &mut [u8], at: usize) {
    log[at] ^= 1;
}

#[test]
fn the_log_is_cut_before_the_first_damaged_batch() {
    let dir = Dir::new();
    let bytes = batch(0, 0).len();
    dir.write("t-0/00000000000000000012.snapshot", "");
    dir.write("cleaner-offset-checkpoint", "0\n1\nt 0 12\n");
    let damaged = {
        dir.change(FIRST, |log| flip(log, bytes + 70));
        content(&dir, FIRST)
    };
    let second = content(&dir, SECOND);
    assert_eq!(repair(&dir, Way::Cut), "2..12 8\n", "8 sound records go with the damaged ones");
    assert_eq!(content(&dir, FIRST), batch(0, 0));
    assert_eq!(content(&dir, &format!("t-0/ringlog-damaged-00000000000000000000-{bytes}")), damaged[bytes..]);
    assert_eq!(content(&dir, "t-0/ringlog-damaged-00000000000000000006-0"), second);
    for gone in ["00000000000000000006.log", "00000000000000000006.index", "00000000000000000012.snapshot"] {
        assert!(!has(&dir, gone), "{gone} stays");
    }
    for (name, text) in [
        ("recovery-point-offset-checkpoint", "0\n1\nt 0 2\n"),
        ("replication-offset-checkpoint", "0\n1\nt 0 2\n"),
        ("cleaner-offset-checkpoint", "0\n1\nt 0 2\n"),
        ("t-0/leader-epoch-checkpoint", "0\n1\n0 0\n"),
    ] {
        assert_eq!(String::from_utf8(content(&dir, name)).unwrap(), text, "{name}");
    }
}

#[test]
fn only_damaged_batches_go() {
    let dir = Dir::new();
    let bytes = batch(0, 0).len();
    dir.change(FIRST, |log| flip(log, bytes + 70));
    // Nor does its length tell where the next one is.
    dir.change(SECOND, |log| log[10] = 0xff);
    assert_eq!(repair(&dir, Way::Skip), "2..4 0\n6..8 0\n");
    assert_eq!(content(&dir, FIRST), [batch(0, 0), batch(4, 0)].concat());
    assert_eq!(content(&dir, SECOND), [batch(8, 3), batch(10, 3)].concat());
    assert_eq!(content(&dir, "t-0/ringlog-damaged-00000000000000000000-0").len(), 3 * bytes, "kept whole");
    assert_eq!(content(&dir, "recovery-point-offset-checkpoint"), b"0\n1\nt 0 12\n", "the log's end stays");
}

#[test]
fn a_damaged_end_goes_either_way() {
    for (way, lost, points) in
        [(Way::Cut, "10..10 0\n", "0\n1\nt 0 10\n"), (Way::Skip, "10..12 0\n", "0\n1\nt 0 12\n")]
    {
        let dir = Dir::new();
        dir.change(SECOND, |log| log.truncate(log.len() - 3));
        assert_eq!(repair(&dir, way), lost);
        assert_eq!(content(&dir, SECOND), [batch(6, 3), batch(8, 3)].concat());
        assert_eq!(content(&dir, "recovery-point-offset-checkpoint"), points.as_bytes());
        // Offsets that were given out aren't again, where damaged ones are to stay empty.
        assert_eq!(has(&dir, "00000000000000000012.log"), way == Way::Skip);
    }
}

#[test]
fn what_stands_behind_a_segments_end_costs_no_records() {
    for tail in [&[0; 4096][..], b"what is this"] {
        let dir = Dir::new();
        dir.change(FIRST, |log| log.extend(tail));
        assert_eq!(repair(&dir, Way::Cut), "");
        assert_eq!(content(&dir, FIRST).len(), 3 * batch(0, 0).len());
        assert_eq!(content(&dir, SECOND).len(), 3 * batch(0, 0).len(), "the next segment stays");
    }
}

#[test]
fn what_a_start_mends_is_left_to_it() {
    let dir = Dir::new();
    dir.remove(".kafka_cleanshutdown");
    dir.write("recovery-point-offset-checkpoint", "0\n1\nt 0 8\n");
    // Behind the recovery point: torn, not damaged. But an index is.
    dir.change(SECOND, |log| log.truncate(log.len() - 3));
    dir.write("t-0/00000000000000000000.index", [0, 0, 0, 3, 0, 0, 0, 1]);
    assert_eq!(repair(&dir, Way::Cut), "");
    assert_eq!(content(&dir, SECOND).len(), 3 * batch(0, 0).len() - 3);
    // Before it: damaged.
    let dir = Dir::new();
    dir.remove(".kafka_cleanshutdown");
    dir.write("recovery-point-offset-checkpoint", "0\n1\nt 0 12\n");
    dir.change(SECOND, |log| flip(log, 70));
    assert_eq!(repair(&dir, Way::Cut), "6..12 4\n");
    assert!(!has(&dir, "00000000000000000006.log"), "the segment before it goes on");
    assert!(has(&dir, "ringlog-damaged-00000000000000000006-0"));
}

#[test]
fn indexes_and_small_files_are_made_anew() {
    let dir = Dir::new();
    dir.write("t-0/00000000000000000000.index", [0, 0, 0, 3, 0, 0, 0, 1]);
    dir.write("t-0/00000000000000000006.timeindex", [7; 12]);
    dir.write("t-0/leader-epoch-checkpoint", "0\n1\n7 0\n");
    dir.write("t-0/00000000000000000006.snapshot", "no snapshot");
    assert_eq!(repair(&dir, Way::Cut), "");
    assert_eq!(content(&dir, "t-0/leader-epoch-checkpoint"), b"0\n2\n0 0\n3 6\n");
    assert!(!has(&dir, "00000000000000000006.snapshot"));
}

#[test]
fn a_checkpoint_of_ours_is_kept_aside() {
    let dir = Dir::new();
    dir.write("t-0/ringlog-checkpoint", "RLPC");
    dir.write("log-start-offset-checkpoint", "0\n1\nt 0 3\n");
    assert_eq!(repair(&dir, Way::Cut), "");
    assert_eq!(content(&dir, "t-0/ringlog-damaged-ringlog-checkpoint"), b"RLPC");
    let checkpoint = inspect::checkpoint(&content(&dir, "t-0/ringlog-checkpoint")).unwrap();
    assert_eq!((checkpoint.start.0, checkpoint.recovery_point.0), (3, 12));
}

#[test]
fn a_compacted_segment_that_isnt_whole() {
    let dir = Dir::new();
    let swap = "t-0/00000000000000000000.log.swap";
    dir.write(swap, [batch(0, 0), vec![9; 20]].concat());
    // What it was to replace is there.
    assert_eq!(repair(&dir, Way::Cut), "");
    assert!(has(&dir, "ringlog-damaged-00000000000000000000-log-swap"), "{:?}", names(&dir));
}

#[test]
fn what_an_earlier_repair_kept_isnt_written_over() {
    let dir = Dir::new();
    dir.write("t-0/ringlog-damaged-00000000000000000006-0", "kept before");
    dir.change(FIRST, |log| flip(log, 70));
    repair(&dir, Way::Cut);
    assert_eq!(content(&dir, "t-0/ringlog-damaged-00000000000000000006-0"), b"kept before");
    assert!(has(&dir, "ringlog-damaged-00000000000000000006-0.1"), "{:?}", names(&dir));
}

/// Offsets that were given out and deleted were given out again.
#[test]
fn a_log_never_ends_before_its_start() {
    let emptied = |segments: bool| {
        let dir = Dir::new();
        dir.remove(SECOND);
        if !segments {
            dir.remove(FIRST);
        }
        for name in ["00000000000000000000", "00000000000000000006"] {
            dir.remove(&format!("t-0/{name}.index"));
            dir.remove(&format!("t-0/{name}.timeindex"));
        }
        for name in ["recovery-point-offset-checkpoint", "replication-offset-checkpoint"] {
            dir.write(name, "0\n1\nt 0 20\n");
        }
        dir
    };
    let own = |start: i64, recovery_point: i64| {
        inspect::checkpoint_file(Checkpoint { start: Offset(start), recovery_point: Offset(recovery_point) })
    };
    let told = |dir: &Dir| {
        let own = inspect::checkpoint(&content(dir, "t-0/ringlog-checkpoint")).unwrap();
        let points = String::from_utf8(content(dir, "recovery-point-offset-checkpoint")).unwrap();
        (own.start.0, own.recovery_point.0, points)
    };
    let points = |end: i64| format!("0\n1\nt 0 {end}\n");
    // Without segments: by its own file, by the directory's, and where its own is damaged.
    let dir = emptied(false);
    dir.write("t-0/ringlog-checkpoint", own(18, 20));
    repair(&dir, Way::Cut);
    assert_eq!(told(&dir), (18, 18, points(18)));
    let dir = emptied(false);
    dir.write("log-start-offset-checkpoint", points(19));
    repair(&dir, Way::Cut);
    assert_eq!(told(&dir), (19, 19, points(19)));
    let dir = emptied(false);
    dir.write("t-0/ringlog-checkpoint", "RLPC");
    repair(&dir, Way::Cut);
    assert_eq!(told(&dir), (20, 20, points(20)), "nothing else tells");
    // With one that lies before its start.
    for damaged in [false, true] {
        let dir = emptied(true);
        dir.write("t-0/ringlog-checkpoint", own(18, 20));
        dir.write("log-start-offset-checkpoint", points(18));
        if damaged {
            dir.change(FIRST, |log| flip(log, 70));
        }
        repair(&dir, Way::Cut);
        assert_eq!(told(&dir), (18, 18, points(18)));
    }
}

/// Retention goes by it where records tell no time.
#[test]
fn a_segment_is_as_old_as_it_was() {
    let aged = |dir: &Dir, name: &str| {
        let file = fs::File::options().write(true).open(dir.path(name)).unwrap();
        file.set_modified(std::time::UNIX_EPOCH + std::time::Duration::from_secs(9)).unwrap();
        entry(&dir.path(name)).unwrap().modified_ns
    };
    for way in [Way::Cut, Way::Skip] {
        let dir = Dir::new();
        let bytes = batch(0, 0).len();
        dir.change(FIRST, |log| flip(log, bytes + 70));
        let before = aged(&dir, FIRST);
        repair(&dir, way);
        assert!(content(&dir, FIRST).len() < 3 * bytes);
        assert_eq!(entry(&dir.path(FIRST)).unwrap().modified_ns, before, "{way:?}");
    }
}

#[test]
fn a_file_that_has_a_second_name_is_cut_here_only() {
    let dir = Dir::new();
    let elsewhere = dir.path("elsewhere");
    let bytes = batch(0, 0).len();
    fs::hard_link(dir.path(SECOND), &elsewhere).unwrap();
    let before = fs::read(&elsewhere).unwrap();
    super::super::change::cut(&dir.path(SECOND), bytes as u64).unwrap();
    assert_eq!(fs::read(&elsewhere).unwrap(), before);
    assert_eq!(content(&dir, SECOND), before[..bytes]);
}
