//! A journal that is full: floor frames find room all the same, a full disk included, and what can't be freed costs nothing.
#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

mod common;

use std::time::Duration;

use common::{append, batch, journal, many, open, read_all, tag_of};
use rt::sim::{Crash, DiskControl, FaultOp, Sim};
use storage::{JournalConfig, LeaderEpoch, Log, LogConfig, LogDir, LogDirConfig, Offset, StorageError};

/// Files of three frames of a block each.
fn small() -> LogDirConfig {
    journal(128 << 10, 64 << 10, Duration::from_secs(3_600))
}

async fn append_and_flush(log: &Log, tag: u64) {
    append(log, batch(tag, 1, 100, 5), 0).await;
    log.flush().await.unwrap();
}

/// Leaves not one byte free, and records of all logs in a journal of two files.
async fn fill(dir: &LogDir, logs: &[Log], disk: &DiskControl) {
    // Their files first: those need space.
    for log in logs {
        append_and_flush(log, 0).await;
    }
    while dir.stats().journal_frames.get() == 0 {
        rt::sleep(Duration::from_millis(10)).await;
        append_and_flush(&logs[0], 1).await;
    }
    disk.set_capacity(Some(0));
    rt::sleep(Duration::from_secs(1)).await;
    for log in logs {
        append_and_flush(log, log.end_offset().0 as u64).await;
    }
}

/// The spare file was used up by whatever came, and the frames of a deletion found no room: the directory went offline.
#[test]
fn a_full_disk_with_a_full_journal_refuses_neither_deletions_nor_rolls() {
    let (sim, node) = Sim::with_node(1);
    let disk = node.disk();
    sim.block_on(&node, async move {
        let opened = open("/data", LogConfig::default(), small()).await;
        let logs = many(&opened.dir, 24).await;
        fill(&opened.dir, &logs, &disk).await;
        for (at, log) in logs.iter().enumerate() {
            match at % 3 {
                0 => opened.dir.delete_log(log.partition()).await.unwrap(),
                1 => log.roll().await.unwrap(),
                _ => log.truncate_to(Offset(1)).await.unwrap(),
            }
            assert_eq!(opened.dir.failure(), None, "after {at} frames");
            for other in logs.iter().filter(|other| !other.is_offline() && other.segment_count() == 1) {
                append_and_flush(other, 9).await;
            }
        }
        disk.set_capacity(None);
        opened.close().await;
    });
}

/// All at once: each waits for room that a checkpoint makes, which mustn't wait for any of them.
#[test]
fn those_that_wait_for_room_don_t_wait_for_each_other() {
    for seed in 0..30 {
        let (sim, node) = Sim::with_node(seed);
        let disk = node.disk();
        sim.block_on(&node, async move {
            let opened = open("/data", LogConfig::default(), small()).await;
            let logs = many(&opened.dir, 24).await;
            fill(&opened.dir, &logs, &disk).await;
            let tasks: Vec<_> =
                logs.iter().cloned().map(|log| rt::spawn(async move { log.roll().await })).collect();
            for task in tasks {
                let rolled = rt::timeout(Duration::from_secs(20), task).await;
                rolled.expect("it ends").unwrap();
            }
            assert_eq!(opened.dir.failure(), None);
        });
        node.crash(Crash::PowerCut);
        node.disk().set_capacity(None);
        sim.block_on(&node, async {
            let opened = open("/data", LogConfig::default(), small()).await;
            for log in many(&opened.dir, 24).await {
                assert!(log.end_offset() >= Offset(2), "{} of {:?}", log.end_offset(), log.partition());
            }
        });
    }
}

/// Renaming needs space in the directory.
#[test]
fn a_segment_waits_for_its_name_while_the_disk_is_full() {
    let (sim, node) = Sim::with_node(2);
    let disk = node.disk();
    sim.block_on(&node, async move {
        let opened = open("/data", LogConfig::default(), small()).await;
        append_and_flush(&opened.log, 0).await;
        let made = batch(1, 1, 100, 5);
        let held = opened.log.reserve(made.total_bytes()).await.unwrap();
        disk.fail(FaultOp::Rename, "ringlog-next", 3);
        opened.log.roll().await.unwrap();
        assert_eq!((opened.dir.failure(), opened.log.segment_count()), (None, 2));
        let at = opened.log.append(held, made, LeaderEpoch(0), 5).unwrap();
        opened.log.wait_synced(at.last_offset.plus(1)).await.unwrap();
        let tags: Vec<u64> = read_all(&opened.log, Offset(0), 9_000).await.iter().map(tag_of).collect();
        assert_eq!(tags, [0, 1]);
        // At a stop there is nothing to wait for.
        let made = batch(2, 1, 100, 5);
        let _held = opened.log.reserve(made.total_bytes()).await.unwrap();
        disk.fail(FaultOp::Rename, "ringlog-next", u32::MAX);
        let log = opened.log.clone();
        let rolling = rt::spawn(async move { log.roll().await });
        rt::sleep(Duration::from_secs(5)).await;
        assert_eq!(opened.dir.failure(), None);
        assert!(!opened.dir.close().await.clean);
        assert!(rolling.await.is_err());
    });
    node.crash(Crash::PowerCut);
    node.disk().clear_faults();
    sim.block_on(&node, async {
        let opened = open("/data", LogConfig::default(), small()).await;
        assert_eq!(opened.log.end_offset(), Offset(2));
    });
}

/// What the journal had of a log whose directory a full disk kept from being renamed was never freed: one checkpoint followed the
/// other.
#[test]
fn a_deletion_refused_for_space_doesn_t_hold_the_journal_back() {
    let (sim, node) = Sim::with_node(3);
    let disk = node.disk();
    sim.block_on(&node, async move {
        let opened = open("/data", LogConfig::default(), small()).await;
        let logs = many(&opened.dir, 2).await;
        for tag in 0..12 {
            for log in &logs {
                append_and_flush(log, tag).await;
            }
            rt::sleep(Duration::from_millis(20)).await;
        }
        assert!(opened.dir.stats().journal_frames.get() > 0);
        append_and_flush(&logs[0], 12).await;
        disk.fail(FaultOp::Rename, "topic0-0", u32::MAX);
        assert!(matches!(opened.dir.delete_log(logs[0].partition()).await, Err(StorageError::NoSpace)));
        let stats = opened.dir.stats();
        let before = (stats.journal_checkpoints.get(), stats.journal_refused_logs.get());
        for tag in 12..72 {
            append_and_flush(&logs[1], tag).await;
        }
        // Frames of a block each, of which half of the journal holds sixteen.
        let checkpoints = stats.journal_checkpoints.get() - before.0;
        assert!((2..8).contains(&checkpoints), "{checkpoints}");
        assert!(stats.journal_refused_logs.get() - before.1 < 20, "the journal goes on");
        disk.clear_faults();
        opened.dir.delete_log(logs[0].partition()).await.unwrap();
        let tags: Vec<u64> = read_all(&logs[1], Offset(0), 9_000).await.iter().map(tag_of).collect();
        assert_eq!(tags, (0..72).collect::<Vec<_>>());
        opened.close().await;
    });
}

/// Each log's bytes were within the bound for itself.
#[test]
fn the_bound_of_what_only_memory_and_the_journal_have_holds_for_a_flush_as_a_whole() {
    let (sim, node) = Sim::with_node(4);
    sim.block_on(&node, async {
        let journal = JournalConfig {
            shard: 0,
            bytes: 16 << 20,
            direct_bytes: 128 << 10,
            age_max: Duration::from_secs(3_600),
        };
        let config = LogDirConfig { journal, tail_bytes_max: 0, ..LogDirConfig::default() };
        let opened = open("/data", LogConfig::default(), config).await;
        let logs = many(&opened.dir, 20).await;
        for tag in 0..6 {
            for log in &logs {
                append_and_flush(log, tag).await;
            }
            rt::sleep(Duration::from_millis(20)).await;
        }
        let mut made = Vec::new();
        for log in &logs {
            let batch = batch(6, 1, 60_000, 5);
            made.push((log, log.reserve_batch(&batch).await.unwrap(), batch));
        }
        let stats = opened.dir.stats();
        let before = stats.journal_bytes.get();
        for (log, reservation, batch) in made {
            log.append(reservation, batch, LeaderEpoch(0), 5).unwrap();
        }
        for log in &logs {
            log.flush().await.unwrap();
        }
        let written = stats.journal_bytes.get() - before;
        assert!((60_000..300_000).contains(&written), "{written} of 1.2 MB, where 256 KiB may be pinned");
        opened.close().await;
    });
}
