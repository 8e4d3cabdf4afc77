//! Tests of what is found in directories that are damaged in one way each.

#![expect(clippy::disallowed_methods, clippy::disallowed_types, reason = "tests, on their own thread")]

use std::fs;
use std::path::{Path, PathBuf};

use protocol::records::BatchBuilder;
use tempfile::TempDir;

use super::lock::{is_listed, refuse_locked};
use super::verify::{Counts, Findings, check};

/// A log directory with the partition `t-0`: two segments of three batches of two records each, stopped cleanly.
pub(super) struct Dir {
    temp: TempDir,
}

pub(super) fn batch(base: i64, epoch: i32) -> Vec<u8> {
    let mut builder = BatchBuilder::new().base_offset(base).leader_epoch(epoch);
    builder.push(1_000 + base, Some(b"key"), Some(b"value"), &[]);
    builder.push(1_001 + base, None, Some(b"value"), &[]);
    builder.build().unwrap().to_vec()
}

fn index(entries: &[(u32, u32)]) -> Vec<u8> {
    entries
        .iter()
        .flat_map(|(offset, position)| [offset.to_be_bytes(), position.to_be_bytes()].concat())
        .collect()
}

fn times(entries: &[(i64, u32)]) -> Vec<u8> {
    entries
        .iter()
        .flat_map(|(ms, offset)| [&ms.to_be_bytes()[..], &offset.to_be_bytes()[..]].concat())
        .collect()
}

impl Dir {
    pub(super) fn new() -> Self {
        let dir = Self { temp: TempDir::new().unwrap() };
        fs::create_dir_all(dir.temp.path().join("t-0")).unwrap();
        let meta = "version=1\nnode.id=1\ncluster.id=c\ndirectory.id=AAAAAAAAAAAAAAAAAAAAAQ\n";
        dir.write("meta.properties", meta);
        dir.write(".kafka_cleanshutdown", "{\"version\":0,\"brokerEpoch\":1}");
        dir.write("recovery-point-offset-checkpoint", "0\n1\nt 0 12\n");
        dir.write("replication-offset-checkpoint", "0\n1\nt 0 12\n");
        dir.write("t-0/partition.metadata", "version: 0\ntopic_id: AAAAAAAAAAAAAAAAAAAAAQ\n");
        dir.write("t-0/leader-epoch-checkpoint", "0\n2\n0 0\n3 6\n");
        let bytes = batch(0, 0).len() as u32;
        for (base, epoch) in [(0, 0), (6, 3)] {
            let log: Vec<u8> = (0..3).flat_map(|i| batch(base + 2 * i, epoch)).collect();
            dir.write(&format!("t-0/{base:020}.log"), log);
            dir.write(&format!("t-0/{base:020}.index"), index(&[(3, bytes), (5, 2 * bytes)]));
            dir.write(&format!("t-0/{base:020}.timeindex"), times(&[(1_003 + base, 3), (1_005 + base, 5)]));
        }
        dir
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.temp.path().join(name)
    }

    pub(super) fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        fs::write(self.path(name), content).unwrap();
    }

    pub(super) fn change(&self, name: &str, change: impl FnOnce(&mut Vec<u8>)) {
        let mut content = fs::read(self.path(name)).unwrap();
        change(&mut content);
        self.write(name, content);
    }

    pub(super) fn remove(&self, name: &str) {
        fs::remove_file(self.path(name)).unwrap();
    }

    pub(super) fn check(&self) -> (Counts, Findings) {
        check_at(self.temp.path())
    }

    /// What is wrong, which must be exactly one thing.
    pub(super) fn fault(&self) -> String {
        let (_, findings) = self.check();
        let faults: Vec<_> = findings.all().iter().filter(|finding| finding.is_fault).collect();
        assert_eq!((faults.len(), findings.faults()), (1, 1), "{findings:?}");
        format!("{}: {}", faults[0].path.display(), faults[0].what)
    }

    /// What is worth knowing, when nothing is wrong.
    pub(super) fn notes(&self) -> String {
        let (_, findings) = self.check();
        assert_eq!(findings.faults(), 0, "{findings:?}");
        findings
            .all()
            .iter()
            .map(|finding| format!("{}: {}\n", finding.path.display(), finding.what))
            .collect()
    }
}

fn check_at(path: &Path) -> (Counts, Findings) {
    let mut findings = Findings::new(path);
    let name = path.file_name().unwrap().to_str().unwrap();
    let counts = check(path, name, &mut findings).unwrap();
    (counts, findings)
}

pub(super) const FIRST: &str = "t-0/00000000000000000000.log";
pub(super) const SECOND: &str = "t-0/00000000000000000006.log";

#[test]
fn a_sound_directory() {
    let dir = Dir::new();
    let (counts, findings) = dir.check();
    assert_eq!(findings.all(), [], "nothing to tell");
    let bytes = 6 * batch(0, 0).len() as u64;
    assert_eq!(counts, Counts { partitions: 1, segments: 2, batches: 6, records: 12, bytes });
    let (alone, findings) = check_at(&dir.path("t-0"));
    assert_eq!((alone, findings.all()), (counts, &[][..]), "the partition alone");
}

#[test]
fn damaged_batches() {
    for (what, change) in [
        ("is corrupt", (|log: &mut Vec<u8>| log[70] ^= 1) as fn(&mut Vec<u8>)),
        ("the batch length", |log| log[8] = 0xff),
        ("record format version 1", |log| log[16] = 1),
        ("ends after", |log| log.truncate(log.len() - 1)),
        ("bytes of zeros", |log| log.extend([0; 4_096])),
        ("bytes of zeros", |log| log.extend([0; 5])),
        ("no batch", |log| log.extend([7; 5_000])),
    ] {
        let dir = Dir::new();
        dir.change(FIRST, change);
        let fault = dir.fault();
        assert!(fault.starts_with(FIRST) && fault.contains(what), "{what}: {fault}");
    }
}

#[test]
fn ends_that_a_start_recovers_are_no_faults() {
    let cuts = [(|log: &mut Vec<u8>| log.truncate(log.len() - 1)) as fn(&mut Vec<u8>), |log| {
        *log.last_mut().unwrap() ^= 1
    }];
    for cut in cuts {
        let dir = Dir::new();
        dir.change(SECOND, cut);
        assert!(dir.fault().starts_with(SECOND));
        dir.remove(".kafka_cleanshutdown");
        // Synced and lost all the same: a fault.
        assert!(dir.fault().starts_with(SECOND));
        dir.write("recovery-point-offset-checkpoint", "0\n1\nt 0 6\n");
        assert!(dir.notes().contains("cuts the log off here, at 10"), "{}", dir.notes());
    }
    let dir = Dir::new();
    dir.change(SECOND, |log| log.extend([0; 9_000]));
    assert!(dir.notes().contains("9000 bytes of space taken ahead"));
}

#[test]
fn offsets_that_dont_follow() {
    let dir = Dir::new();
    dir.write(SECOND, [batch(6, 3), batch(10, 3)].concat());
    dir.remove("t-0/00000000000000000006.index");
    dir.remove("t-0/00000000000000000006.timeindex");
    assert!(dir.fault().contains("offsets 8 to 9 are missing"), "{}", dir.fault());
    dir.write("cleaner-offset-checkpoint", "0\n1\nt 0 6\n");
    assert_eq!(dir.notes(), "", "compaction leaves gaps");
    dir.remove("cleaner-offset-checkpoint");
    dir.write("t-0/ringlog-cleaned", "");
    assert_eq!(dir.notes(), "", "ours too");
    dir.write(SECOND, [batch(6, 3), batch(6, 3), batch(8, 3), batch(10, 3)].concat());
    assert!(dir.fault().contains("offset 6 comes after 8 was reached"));
    dir.write(SECOND, [batch(8, 3), batch(10, 3)].concat());
    dir.write(FIRST, [batch(0, 0), batch(2, 0), batch(4, 0), batch(6, 0)].concat());
    assert!(dir.fault().contains("it begins at 6, but the segment before it ends at 8"), "{}", dir.fault());
}

#[test]
fn epochs_that_fall() {
    let dir = Dir::new();
    dir.write(SECOND, [batch(6, 3), batch(8, 2), batch(10, 3)].concat());
    assert!(dir.fault().contains("leader epoch 2 comes after 3"));
}

#[test]
fn indexes_that_point_elsewhere() {
    let bytes = batch(0, 0).len() as u32;
    let name = "t-0/00000000000000000006.index";
    for (entries, what) in [
        (&[(3, bytes + 1)][..], "isn't the start of a batch"),
        (&[(1, bytes)], "offset 7 is said to be at"),
        (&[(5, bytes), (3, 2 * bytes)], "comes after"),
        (&[(3, bytes), (5, bytes)], "comes after"),
        (&[(3, 3 * bytes)], "is beyond the segment"),
    ] {
        let dir = Dir::new();
        dir.write(name, index(entries));
        let fault = dir.fault();
        assert!(fault.starts_with(name) && fault.contains(what), "{what}: {fault}");
    }
    let dir = Dir::new();
    dir.change(name, |file| file.extend([0; 64]));
    assert_eq!(dir.notes(), "", "space that Kafka takes ahead");
    dir.change(name, |file| file.push(1));
    assert!(dir.fault().contains("1 bytes behind the last whole entry"));
}

#[test]
fn time_indexes_that_lie() {
    let name = "t-0/00000000000000000006.timeindex";
    for (entries, what) in [
        (&[(1_008, 3)][..], "is said to be 1008, but it is 1009"),
        (&[(1_010, 3)], "is said to be 1010, but it is 1009"),
        (&[(1_011, 5), (1_009, 3)], "comes after"),
        (&[(1_011, 6)], "behind the segment's end"),
    ] {
        let dir = Dir::new();
        dir.write(name, times(entries));
        let fault = dir.fault();
        assert!(fault.starts_with(name) && fault.contains(what), "{what}: {fault}");
    }
}

#[test]
fn small_files_that_are_wrong() {
    for (name, content, what) in [
        ("t-0/leader-epoch-checkpoint", "0\n2\n3 0\n0 6\n", "comes after epoch 3"),
        ("t-0/leader-epoch-checkpoint", "0\n1\n0 0\n", "offset 6 is said to be of epoch 0"),
        ("t-0/leader-epoch-checkpoint", "0\n1\n3 6\n", "the epoch of offset 0 isn't there"),
        ("t-0/leader-epoch-checkpoint", "0\n3\n0 0\n3 6\n4 13\n", "epoch 4 starts at 13"),
        ("t-0/leader-epoch-checkpoint", "x", "version"),
        ("t-0/partition.metadata", "version: 0\n", "no topic_id"),
        ("t-0/00000000000000000012.snapshot", "\0\x01\0\0\0\0\0\0\0\0", "CRC"),
        ("t-0/ringlog-checkpoint", "RLPC", "isn't a log checkpoint"),
        (
            "replication-offset-checkpoint",
            "0\n1\nt 0 13\n",
            "replication-offset-checkpoint is 13, but the log ends at 12",
        ),
        ("recovery-point-offset-checkpoint", "0\n2\nt 0 12\n", "instead of the 2 announced"),
        ("meta.properties", "version=1\n", "node.id"),
        ("ringlog-unrecovered", "1\n", "version 0"),
    ] {
        let dir = Dir::new();
        dir.write(name, content);
        assert!(dir.fault().contains(what), "{name}: {}", dir.fault());
    }
}

#[test]
fn epochs_before_the_start_are_forgotten() {
    let dir = Dir::new();
    dir.write("log-start-offset-checkpoint", "0\n1\nt 0 7\n");
    dir.write("t-0/leader-epoch-checkpoint", "0\n1\n3 7\n");
    assert_eq!(dir.notes(), "");
}

#[test]
fn what_is_no_log_directory_is_refused() {
    let temp = TempDir::new().unwrap();
    let mut findings = Findings::new(temp.path());
    assert!(check(temp.path(), "x", &mut findings).unwrap_err().to_string().contains("no log directory"));
}

#[test]
fn a_log_without_segments_was_never_written() {
    let dir = Dir::new();
    for name in [FIRST, SECOND] {
        for suffix in ["log", "index", "timeindex"] {
            dir.remove(&name.replace("log", suffix));
        }
    }
    dir.write("recovery-point-offset-checkpoint", "0\n0\n");
    dir.write("t-0/leader-epoch-checkpoint", "0\n0\n");
    assert!(dir.fault().contains("replication-offset-checkpoint is 12, but the log ends at 0"));
    dir.write("replication-offset-checkpoint", "0\n0\n");
    assert_eq!(dir.notes(), "");
}

#[test]
fn a_locked_directory_is_refused() {
    let dir = Dir::new();
    refuse_locked(&dir.path(FIRST)).unwrap();
    let lock = fs::File::create(dir.path(".lock")).unwrap();
    refuse_locked(&dir.path(FIRST)).unwrap();
    lock.lock().unwrap();
    for name in ["", "t-0", FIRST] {
        let refused = refuse_locked(&dir.path(name)).unwrap_err().to_string();
        assert!(refused.contains("--force-read"), "{refused}");
    }
    drop(lock);
    refuse_locked(dir.temp.path()).unwrap();
}

#[test]
fn java_locks_are_found_in_the_kernels_list() {
    let locks = "1: POSIX  ADVISORY  WRITE 1234 fe:00:5678 0 EOF\n\
                 1: -> POSIX  ADVISORY  WRITE 1235 fe:00:5679 0 EOF\n\
                 2: FLOCK  ADVISORY  READ 7 fe:00:5680 0 EOF\n";
    for (inode, listed) in [(5_678, true), (567, false), (5_679, false), (5_680, false)] {
        assert_eq!(is_listed(locks, 0xfe00, inode), listed, "{inode}");
    }
    assert!(!is_listed(locks, 0xfd00, 5_678));
}

#[test]
fn segments_below_the_logs_start_may_be_in_pieces() {
    // A power cut amid their removal leaves any of their files.
    let dir = Dir::new();
    dir.write("log-start-offset-checkpoint", "0\n1\nt 0 6\n");
    dir.write("t-0/leader-epoch-checkpoint", "0\n1\n3 6\n");
    dir.change(FIRST, |log| log.truncate(100));
    assert!(dir.notes().contains("below the log's start"), "{}", dir.notes());
    dir.write("log-start-offset-checkpoint", "0\n1\nt 0 5\n");
    let (_, findings) = dir.check();
    assert_eq!(findings.faults(), 2, "one record of it is served: the segment and its index");
}

#[test]
fn a_compacted_segment_that_was_to_take_others_place() {
    let dir = Dir::new();
    let swap = "t-0/00000000000000000000.log.swap";
    // Of the first segment only the last batch stayed; the originals are gone in part.
    dir.write(swap, batch(4, 0));
    dir.write("t-0/00000000000000000000.index.swap", "");
    dir.remove(FIRST);
    let notes = dir.notes();
    assert!(notes.contains("in the place of 0") && notes.contains("an index without its segment"), "{notes}");
    dir.write(FIRST, [batch(0, 0), batch(2, 0), batch(4, 0)].concat());
    assert!(dir.notes().contains("in the place of 1"), "{}", dir.notes());
    dir.change(swap, |log| log[70] ^= 1);
    assert!(
        dir.fault().contains("can't be opened with a compacted segment that isn't whole"),
        "{}",
        dir.fault()
    );
}
