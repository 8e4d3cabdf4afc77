//! What a replay finds no place for: a partition that doesn't tell its topic, one that can't be read, one that another broker
//! had since, and a journal of another time.
#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

mod common;

use std::collections::BTreeSet;
use std::time::Duration;

use common::{append, batch, calm, open, partition, tags};
use protocol::types::Uuid;
use rt::sim::{Crash, FaultOp, Node, Sim};
use storage::{DirFacts, DirHome, HomeConfig, Log, LogConfig, LogDir, LogStatus, Offset, TopicPartition};

const SEGMENT: &str = "/data/orders-0/00000000000000000000.log";
const METADATA: &str = "/data/orders-0/partition.metadata";

fn other() -> TopicPartition {
    TopicPartition::new("other", 0)
}

async fn append_some(log: &Log, tags: std::ops::Range<u64>) {
    for tag in tags {
        append(log, batch(tag, 1, 100, 5), 0).await;
        log.flush().await.unwrap();
        rt::sleep(Duration::from_millis(50)).await;
    }
}

fn names(node: &Node, prefix: &str) -> Vec<String> {
    node.disk().names("/data").into_iter().filter(|name| name.starts_with(prefix)).collect()
}

/// Two logs with records that only the journal has, and a crash.
fn crashed(seed: u64, crash: Crash) -> (Sim, Node) {
    let (sim, node) = Sim::with_node(seed);
    sim.block_on(&node, async {
        let opened = open("/data", LogConfig::default(), calm()).await;
        let beside = opened.dir.ensure_log(other(), Uuid([9; 16]), LogConfig::default()).await.unwrap();
        append_some(&opened.log, 0..6).await;
        append_some(&beside, 0..6).await;
        assert_eq!(opened.dir.stats().journal_checkpoints.get(), 0);
        std::mem::forget((opened, beside));
    });
    node.crash(crash);
    (sim, node)
}

/// Opens the directory, and both logs as far as that goes.
async fn look() -> (DirHome, LogDir, Log, Option<Log>) {
    let (home, facts) = DirHome::open("/data", HomeConfig { node_id: 1, cluster_id: None }).await.unwrap();
    let dir = LogDir::open("/data", facts, calm()).await.unwrap();
    let beside = dir.ensure_log(other(), Uuid([9; 16]), LogConfig::default()).await.unwrap();
    let log = dir.ensure_log(partition(), Uuid([3; 16]), LogConfig::default()).await.ok();
    home.begin_use().await.unwrap();
    (home, dir, beside, log)
}

/// Starts, finds `orders` offline for lack of its records, and ends in a crash.
fn find_offline(sim: &Sim, node: &Node, crash: Crash) {
    sim.block_on(node, async {
        let (_home, dir, beside, log) = look().await;
        assert_eq!(tags(&beside).await, [0, 1, 2, 3, 4, 5], "the others serve");
        append_some(&beside, 6..7).await;
        let log = log.unwrap();
        let LogStatus::Corrupt(reason) = log.status() else { panic!("{:?}", log.status()) };
        assert!(log.is_offline() && dir.failure().is_none(), "{reason}");
    });
    assert_eq!(names(node, "ringlog-kept-").len(), 1);
    node.crash(crash);
}

#[test]
fn records_of_a_partition_that_doesn_t_tell_its_topic_wait_for_it_to_do_so() {
    let whole = "version: 0\ntopic_id: AwMDAwMDAwMDAwMDAwMDAw\n";
    for (seed, damaged) in [Some("version: 7\n"), None].into_iter().enumerate() {
        let (sim, node) = crashed(seed as u64, Crash::PowerCut);
        assert_eq!(node.disk().read_file(METADATA).unwrap(), whole);
        match damaged {
            Some(text) => node.disk().put_file(METADATA, text).unwrap(),
            None => sim.block_on(&node, async { rt::fs::remove_file(METADATA).await.unwrap() }),
        }
        // Twice: the second start finds the file, and no journal of it.
        find_offline(&sim, &node, Crash::Kill);
        sim.block_on(&node, async {
            let (_home, _dir, beside, log) = look().await;
            assert_eq!(tags(&beside).await, [0, 1, 2, 3, 4, 5, 6]);
            assert!(log.unwrap().is_offline());
        });
        node.crash(Crash::PowerCut);
        node.disk().put_file(METADATA, whole).unwrap();
        sim.block_on(&node, async {
            let (_home, _dir, _, log) = look().await;
            assert_eq!(tags(&log.unwrap()).await, [0, 1, 2, 3, 4, 5]);
        });
        assert_eq!(names(&node, "ringlog-kept-"), [""; 0]);
    }
}

/// Opens the directory, and tells that the topic with that id was deleted.
async fn forget(topic_id: Uuid) {
    let (home, mut facts) = home().await;
    home.set_aside(&[], &BTreeSet::from([topic_id]), &mut facts).await.unwrap();
}

async fn home() -> (DirHome, DirFacts) {
    DirHome::open("/data", HomeConfig { node_id: 1, cluster_id: None }).await.unwrap()
}

/// Moved to another log directory by hand after a crash, a partition lost what only the journal had, and nobody was told.
#[test]
fn records_of_a_partition_that_was_moved_away_are_kept() {
    for (seed, is_deleted) in [false, true].into_iter().enumerate() {
        let (sim, node) = crashed(seed as u64, Crash::PowerCut);
        sim.block_on(&node, async {
            rt::fs::create_dir_all("/elsewhere").await.unwrap();
            rt::fs::rename("/data/orders-0", "/elsewhere/orders-0").await.unwrap();
        });
        // The second start finds the file, and no journal of it.
        for _ in 0..2 {
            sim.block_on(&node, async {
                let (_home, facts) = home().await;
                let dir = LogDir::open("/data", facts, calm()).await.unwrap();
                let beside = dir.ensure_log(other(), Uuid([9; 16]), LogConfig::default()).await.unwrap();
                assert_eq!(tags(&beside).await, [0, 1, 2, 3, 4, 5], "the others serve");
            });
            assert_eq!(names(&node, "ringlog-kept-").len(), 1);
            node.crash(Crash::Kill);
        }
        if is_deleted {
            sim.block_on(&node, forget(Uuid([9; 16])));
            assert_eq!(names(&node, "ringlog-kept-").len(), 1, "another topic");
            node.crash(Crash::Kill);
            sim.block_on(&node, forget(Uuid([3; 16])));
            assert_eq!(names(&node, "ringlog-kept-"), [""; 0], "nobody can take them any more");
            continue;
        }
        sim.block_on(&node, async {
            rt::fs::rename("/elsewhere/orders-0", "/data/orders-0").await.unwrap();
            let (_home, _dir, _, log) = look().await;
            assert_eq!(tags(&log.unwrap()).await, [0, 1, 2, 3, 4, 5]);
        });
        assert_eq!(names(&node, "ringlog-kept-"), [""; 0]);
    }
}

/// A crash amid a deletion leaves its directory under another name, and what the journal has of it.
#[test]
fn records_of_a_deleted_partition_are_not_kept() {
    let (sim, node) = crashed(1, Crash::Kill);
    let deleted = format!("/data/orders-0.{}-delete", "0a".repeat(16));
    let disk = node.disk();
    sim.block_on(&node, async move {
        rt::fs::rename("/data/orders-0", &deleted).await.unwrap();
        // The first start after is cut short before the journal is gone.
        disk.fail(FaultOp::Read, "ringlog-journal-", u32::MAX);
        let config = HomeConfig { node_id: 1, cluster_id: None };
        assert!(DirHome::open("/data", config).await.is_err());
        disk.clear_faults();
    });
    assert!(!names(&node, "ringlog-journal-").is_empty());
    node.crash(Crash::PowerCut);
    sim.block_on(&node, async { drop(home().await) });
    assert_eq!(names(&node, "ringlog-kept-"), [""; 0]);
    assert_eq!(names(&node, "ringlog-journal-"), [""; 0]);
    assert_eq!(names(&node, "orders-0"), [""; 0], "the deletion is finished");
}

/// What can't be read in one partition's directory ended the start of all.
#[test]
fn a_partition_that_can_t_be_read_is_the_only_one_that_doesn_t_serve() {
    for (seed, part) in
        ["orders-0/partition.metadata", "orders-0/00000000000000000000.log"].into_iter().enumerate()
    {
        let (sim, node) = crashed(seed as u64, Crash::Kill);
        let disk = node.disk();
        sim.block_on(&node, async move {
            disk.fail(FaultOp::Read, part, u32::MAX);
            let (_home, dir, beside, log) = look().await;
            assert_eq!(tags(&beside).await, [0, 1, 2, 3, 4, 5]);
            assert!(log.is_none_or(|log| log.is_offline()) && dir.failure().is_none());
            // It can be read again, and is still without those records.
            disk.clear_faults();
            let again = dir.ensure_log(partition(), Uuid([3; 16]), LogConfig::default()).await;
            let again = again.unwrap_or_else(|_| dir.log(&partition()).unwrap());
            let LogStatus::Corrupt(reason) = again.status() else { panic!("{:?}", again.status()) };
            assert!(reason.contains("ringlog-kept-"), "{reason}");
            assert!(!dir.close().await.clean);
        });
        node.crash(Crash::PowerCut);
        sim.block_on(&node, async move {
            let (home, dir, _, log) = look().await;
            assert_eq!(tags(&log.unwrap()).await, [0, 1, 2, 3, 4, 5], "{part}");
            let closed = dir.close().await;
            assert!(closed.clean);
            home.close(&[closed], &storage::Offsets::new(), 1).await.unwrap();
        });
    }
}

/// The bytes of batches as another broker would write them at `base`.
fn foreign(base: i64, count: i64) -> Vec<u8> {
    let mut bytes = Vec::new();
    for at in 0..count {
        let mut one = batch(900 + at as u64, 1, 130, 5).bytes().to_vec();
        protocol::records::patch_offset_and_epoch(&mut one, base + at, 0);
        bytes.extend_from_slice(&one);
    }
    bytes
}

/// What is in the segment file: whole batches of ours, as many bytes.
fn placed(node: &Node) -> (i64, Vec<u8>) {
    let file = node.disk().read_file(SEGMENT).unwrap();
    let (mut count, mut rest) = (0, file.clone());
    while protocol::records::RecordBatch::split_from(&mut rest).is_ok() {
        count += 1;
    }
    let bytes = count * batch(0, 1, 100, 5).total_bytes();
    assert!((1..6).contains(&count), "some records are there, others in the journal: {count}");
    (count as i64, file[..bytes].to_vec())
}

/// Kafka had the directory after a crash of ours, and crashed too: the journal was written over its records.
#[test]
fn another_brokers_records_are_not_written_over() {
    // In the place of ours, shorter and longer than these, and in a segment behind.
    for (seed, case) in ["shorter", "longer", "rolled"].into_iter().enumerate() {
        let (sim, node) = crashed(seed as u64, Crash::Kill);
        let disk = node.disk();
        let (count, ours) = placed(&node);
        let more = match case {
            "shorter" => 1,
            "longer" => 9,
            _ => 3,
        };
        if case == "rolled" {
            disk.put_file(SEGMENT, ours).unwrap();
            disk.put_file(format!("/data/orders-0/{count:020}.log"), foreign(count, more)).unwrap();
        } else {
            disk.put_file(SEGMENT, [ours, foreign(count, more)].concat()).unwrap();
        }
        sim.block_on(&node, async move {
            let (_home, _dir, beside, log) = look().await;
            assert_eq!(tags(&beside).await, [0, 1, 2, 3, 4, 5], "where it continues it is replayed");
            let wanted: Vec<u64> = (0..count as u64).chain(900..900 + more as u64).collect();
            assert_eq!(tags(&log.unwrap()).await, wanted, "{case}");
        });
        assert_eq!(names(&node, "ringlog-foreign-").len(), 1, "{case}");
        assert_eq!(names(&node, "ringlog-journal-1-"), [""; 0]);
    }
}

/// Kafka cut what it found no batch in, and appended nothing; or cut more, and what the journal has doesn't continue it.
#[test]
fn what_another_broker_only_cut_is_replayed_if_it_continues() {
    for (seed, is_short) in [false, true].into_iter().enumerate() {
        let (sim, node) = crashed(seed as u64, Crash::Kill);
        let (_, ours) = placed(&node);
        node.disk().put_file(SEGMENT, if is_short { Vec::new() } else { ours }).unwrap();
        sim.block_on(&node, async move {
            let (_home, _dir, _, log) = look().await;
            let wanted = if is_short { 0 } else { 6 };
            assert_eq!(tags(&log.unwrap()).await, (0..wanted).collect::<Vec<_>>());
        });
    }
}

/// Files of an earlier start that somebody put back brought truncated records back.
#[test]
fn a_journal_of_an_earlier_start_is_ignored() {
    let (sim, node) = crashed(2, Crash::Kill);
    let disk = node.disk();
    let old: Vec<(String, bytes::Bytes)> = names(&node, "ringlog-journal-1-")
        .into_iter()
        .map(|name| (name.clone(), disk.read_file(format!("/data/{name}")).unwrap()))
        .collect();
    assert!(!old.is_empty());
    sim.block_on(&node, async {
        let (_home, _dir, _, log) = look().await;
        let log = log.unwrap();
        log.truncate_to(Offset(2)).await.unwrap();
        assert_eq!(tags(&log).await, [0, 1]);
    });
    node.crash(Crash::PowerCut);
    for (name, content) in old {
        node.disk().put_file(format!("/data/{name}"), content).unwrap();
    }
    sim.block_on(&node, async {
        let (_home, _dir, _, log) = look().await;
        assert_eq!(tags(&log.unwrap()).await, [0, 1]);
    });
    assert_eq!(names(&node, "ringlog-foreign-"), [""; 0]);
}

/// A full disk can't take another id: the last one goes on.
#[test]
fn a_start_on_a_full_disk_goes_on_with_the_last_id() {
    let (sim, node) = crashed(3, Crash::Kill);
    let disk = node.disk();
    sim.block_on(&node, async move {
        disk.set_capacity(Some(0));
        let (_home, _dir, _, log) = look().await;
        let log = log.unwrap();
        assert_eq!(tags(&log).await, [0, 1, 2, 3, 4, 5]);
        disk.set_capacity(None);
        append_some(&log, 6..12).await;
    });
    node.crash(Crash::PowerCut);
    sim.block_on(&node, async {
        let (_home, _dir, _, log) = look().await;
        assert_eq!(tags(&log.unwrap()).await, (0..12).collect::<Vec<_>>());
    });
}
