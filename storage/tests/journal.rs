//! The shard journal: what a flush costs, what goes past it, what is left of it, and what a start makes of it.
#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

mod common;

use std::time::Duration;

use common::{append, batch, calm, journal, many, open, tags};
use protocol::types::Uuid;
use rt::sim::{Crash, FaultOp, Latency, Node, Sim};
use storage::{JournalConfig, Log, LogConfig, LogDirConfig, Offset, TopicPartition};

const SEGMENT: &str = "/data/orders-0/00000000000000000000.log";

/// Appends small batches until the journal has its files, and one more.
async fn warm_up(log: &Log) {
    for tag in 0..6 {
        append(log, batch(tag, 1, 100, 5), 0).await;
        log.flush().await.unwrap();
        rt::sleep(Duration::from_millis(50)).await;
    }
}

fn journals(node: &Node) -> Vec<String> {
    let names = node.disk().names("/data");
    names.into_iter().filter(|name| name.starts_with("ringlog-journal-")).collect()
}

#[test]
fn a_flush_of_many_logs_is_one_durable_frame() {
    let (sim, node) = Sim::with_node(1);
    sim.block_on(&node, async {
        let opened = open("/data", LogConfig::default(), calm()).await;
        warm_up(&opened.log).await;
        let logs = many(&opened.dir, 30).await;
        for round in 0..2 {
            // In the first one they make their files, each in its own time.
            let stats = opened.dir.stats();
            let syncs = || stats.sync_time.counts().buckets.iter().sum::<u64>();
            let before = (stats.journal_frames.get(), syncs(), stats.device_bytes.get());
            for log in &logs {
                let made = batch(round, 1, 100, 5);
                let reservation = log.reserve_batch(&made).await.unwrap();
                log.append(reservation, made, storage::LeaderEpoch(0), 5).unwrap();
            }
            for log in &logs {
                log.wait_synced(log.end_offset()).await.unwrap();
            }
            if round == 1 {
                let after = (stats.journal_frames.get(), syncs(), stats.device_bytes.get());
                assert_eq!(after.0 - before.0, 1, "one frame");
                assert_eq!((after.1 - before.1, after.2), (1, before.2), "one sync, no segment written");
            }
        }
        opened.close().await;
    });
}

#[test]
fn no_flush_waits_for_what_goes_to_a_segment() {
    let (sim, node) = Sim::with_node(9);
    let disk = node.disk();
    sim.block_on(&node, async move {
        let often = journal(1 << 20, 8 << 10, Duration::from_secs(3_600));
        let opened = open("/data", LogConfig::default(), often).await;
        warm_up(&opened.log).await;
        let placed = opened.dir.stats().device_bytes.get();
        for tag in 6..10 {
            append(&opened.log, batch(tag, 1, 4_000, 5), 0).await;
            opened.log.wait_synced(opened.log.end_offset()).await.unwrap();
        }
        // There is enough of it in the journal now: it goes to its segment, a second long.
        let slow = Duration::from_secs(1);
        let micros = slow.as_micros() as u64;
        disk.set_latency(Latency { write_us: micros..=micros, ..Latency::default() });
        let begun = rt::now();
        for tag in 10..15 {
            append(&opened.log, batch(tag, 1, 100, 5), 0).await;
            opened.log.wait_synced(opened.log.end_offset()).await.unwrap();
        }
        assert!(rt::now() - begun < slow, "{:?}", rt::now() - begun);
        rt::sleep(2 * slow).await;
        assert!(opened.dir.stats().device_bytes.get() > placed, "it went there");
        disk.set_latency(Latency::default());
        assert_eq!(tags(&opened.log).await, (0..15).collect::<Vec<_>>());
        opened.close().await;
    });
}

#[test]
fn a_roll_gets_its_turn_while_segments_are_written() {
    let (sim, node) = Sim::with_node(10);
    let disk = node.disk();
    sim.block_on(&node, async move {
        let often = journal(8 << 20, 8 << 10, Duration::from_secs(3_600));
        let opened = open("/data", LogConfig::default(), often).await;
        warm_up(&opened.log).await;
        disk.set_latency(Latency {
            write_us: 40_000..=40_000,
            sync_us: 15_000..=15_000,
            ..Latency::default()
        });
        // Flushes without a pause, and always something on its way to the segment: of both one is under way at any time.
        let log = opened.log.clone();
        let busy = rt::spawn(async move {
            for tag in 6..600 {
                append(&log, batch(tag, 1, 1_000, 5), 0).await;
                rt::sleep(Duration::from_millis(5)).await;
            }
        });
        rt::sleep(Duration::from_millis(200)).await;
        rt::timeout(Duration::from_secs(1), opened.log.roll()).await.unwrap().unwrap();
        assert!(opened.log.end_offset() < Offset(400), "it rolled amid the appends");
        busy.await;
        assert_eq!(tags(&opened.log).await, (0..600).collect::<Vec<_>>());
        opened.close().await;
    });
}

#[test]
fn a_clean_stop_leaves_exact_segments_and_no_journal() {
    let (sim, node) = Sim::with_node(2);
    let bytes = sim.block_on(&node, async {
        let opened = open("/data", LogConfig::default(), calm()).await;
        warm_up(&opened.log).await;
        assert!(opened.dir.stats().journal_frames.get() > 0);
        let bytes = opened.log.size_bytes();
        opened.close().await;
        bytes
    });
    assert_eq!(journals(&node), [""; 0]);
    assert_eq!(node.disk().read_file(SEGMENT).unwrap().len() as u64, bytes);
}

#[test]
fn what_only_the_journal_has_is_replayed_whatever_shard_it_was_of() {
    for crash in [Crash::Kill, Crash::PowerCut] {
        let (sim, node) = Sim::with_node(3);
        sim.block_on(&node, async {
            let opened = open("/data", LogConfig::default(), calm()).await;
            warm_up(&opened.log).await;
            std::mem::forget(opened);
        });
        let last = node.disk().read_file(SEGMENT).unwrap();
        assert!(!journals(&node).is_empty());
        node.crash(crash);
        sim.block_on(&node, async move {
            let other = LogDirConfig { journal: JournalConfig { shard: 7, ..calm().journal }, ..calm() };
            let opened = open("/data", LogConfig::default(), other).await;
            assert_eq!(tags(&opened.log).await, [0, 1, 2, 3, 4, 5], "{crash:?}");
            let now = read_segment().await;
            assert_ne!(now[..opened.log.size_bytes() as usize], last[..opened.log.size_bytes() as usize]);
            opened.close().await;
        });
    }
}

async fn read_segment() -> bytes::Bytes {
    rt::fs::read(SEGMENT).await.unwrap()
}

#[test]
fn a_journal_found_after_a_clean_stop_is_not_replayed() {
    let (sim, node) = Sim::with_node(4);
    sim.block_on(&node, async {
        let opened = open("/data", LogConfig::default(), calm()).await;
        warm_up(&opened.log).await;
        let kept = rt::fs::read("/data/ringlog-journal-1-0").await.unwrap();
        opened.log.truncate_to(Offset(2)).await.unwrap();
        opened.close().await;
        // As another broker leaves it that had the directory after a crash of ours.
        rt::fs::write_atomic("/data/ringlog-journal-1-0", kept).await.unwrap();
        let opened = open("/data", LogConfig::default(), calm()).await;
        assert!(opened.clean);
        assert_eq!(tags(&opened.log).await, [0, 1]);
        opened.close().await;
    });
    assert_eq!(journals(&node), [""; 0]);
}

#[test]
fn a_journal_of_a_later_release_is_refused() {
    let (sim, node) = Sim::with_node(5);
    sim.block_on(&node, async {
        let opened = open("/data", LogConfig::default(), calm()).await;
        warm_up(&opened.log).await;
        let mut header = rt::fs::read("/data/ringlog-journal-1-0").await.unwrap().to_vec();
        header[5] += 1;
        let crc = crc32c::crc32c(&header[..28]);
        header[28..32].copy_from_slice(&crc.to_be_bytes());
        rt::fs::write_atomic("/data/ringlog-journal-1-9", header.into()).await.unwrap();
        std::mem::forget(opened);
    });
    node.crash(Crash::Kill);
    sim.block_on(&node, async {
        let config = storage::HomeConfig { node_id: 1, cluster_id: None };
        let error = storage::DirHome::open("/data", config).await.unwrap_err();
        assert!(error.to_string().contains("later release"), "{error}");
    });
    assert!(journals(&node).len() > 1, "nothing was removed");
}

#[test]
fn a_large_write_goes_past_it_and_begins_with_what_it_has() {
    let (sim, node) = Sim::with_node(6);
    sim.block_on(&node, async {
        let opened = open("/data", LogConfig::default(), calm()).await;
        warm_up(&opened.log).await;
        let stats = opened.dir.stats();
        let frames = stats.journal_frames.get();
        let end = append(&opened.log, batch(6, 1, 100_000, 5), 0).await.plus(1);
        opened.log.wait_synced(end).await.unwrap();
        assert_eq!(stats.journal_frames.get(), frames);
        let segment = read_segment().await;
        let whole = common::batches(opened.log.read(Offset(0), end, 1 << 20, true).await.unwrap());
        let wanted: Vec<u8> = whole.iter().flat_map(|batch| batch.bytes().to_vec()).collect();
        assert_eq!(segment[..wanted.len()], wanted[..], "no hole");
        opened.close().await;
    });
}

#[test]
fn what_is_old_goes_to_its_segment_and_frees_the_journal() {
    let (sim, node) = Sim::with_node(7);
    sim.block_on(&node, async {
        let config = journal(1 << 20, 64 << 10, Duration::from_millis(300));
        let opened = open("/data", LogConfig::default(), config).await;
        warm_up(&opened.log).await;
        rt::sleep(Duration::from_millis(400)).await;
        let stats = opened.dir.stats();
        assert!(stats.journal_checkpoints.get() > 0);
        let bytes = opened.log.size_bytes() as usize;
        let memory = common::batches(opened.log.read(Offset(0), Offset(6), 1 << 20, true).await.unwrap());
        let wanted: Vec<u8> = memory.iter().flat_map(|batch| batch.bytes().to_vec()).collect();
        assert_eq!(read_segment().await[..bytes], wanted[..]);
        // Nothing waits any more: an idle journal does nothing.
        let checkpoints = stats.journal_checkpoints.get();
        rt::sleep(Duration::from_secs(60)).await;
        assert_eq!(stats.journal_checkpoints.get(), checkpoints);
        opened.close().await;
    });
}

#[test]
fn one_that_is_too_small_holds_nobody_up() {
    let (sim, node) = Sim::with_node(8);
    sim.block_on(&node, async {
        let config = journal(128 << 10, 64 << 10, Duration::from_secs(3_600));
        let opened = open("/data", LogConfig::default(), config).await;
        let logs = many(&opened.dir, 20).await;
        for tag in 0..60 {
            for log in &logs {
                append(log, batch(tag, 1, 900, 5), 0).await;
            }
            let at = tag as usize % logs.len();
            logs[at].wait_synced(logs[at].end_offset()).await.unwrap();
        }
        for log in &logs {
            log.flush().await.unwrap();
        }
        let stats = opened.dir.stats();
        assert!(stats.journal_refused_logs.get() > 0 && stats.journal_frames.get() > 0);
        assert!(stats.journal_checkpoints.get() > 0);
        assert!(journals_of_node().await <= 9, "it grows by no more than one file");
        for log in &logs {
            assert_eq!(tags(log).await, (0..60).collect::<Vec<_>>());
        }
        opened.close().await;
    });
}

async fn journals_of_node() -> usize {
    let entries = rt::fs::read_dir("/data").await.unwrap();
    entries.iter().filter(|entry| entry.name.starts_with("ringlog-journal-")).count()
}

#[test]
fn deletions_alone_do_not_fill_it() {
    let (sim, node) = Sim::with_node(9);
    sim.block_on(&node, async {
        let config = journal(128 << 10, 64 << 10, Duration::from_secs(3_600));
        let opened = open("/data", LogConfig::default(), config).await;
        warm_up(&opened.log).await;
        for round in 0..60 {
            let of = TopicPartition::new("passing", 0);
            let log = opened.dir.ensure_log(of.clone(), Uuid([99; 16]), LogConfig::default()).await.unwrap();
            append(&log, batch(round, 1, 100, 5), 0).await;
            log.flush().await.unwrap();
            opened.dir.delete_log(&of).await.unwrap();
        }
        assert!(journals_of_node().await <= 9);
        opened.close().await;
    });
}

#[test]
fn without_space_for_it_logs_are_written_by_themselves() {
    let (sim, node) = Sim::with_node(10);
    let disk = node.disk();
    sim.block_on(&node, async move {
        disk.set_capacity(Some(2 << 20));
        let opened =
            open("/data", LogConfig::default(), journal(64 << 20, 64 << 10, Duration::from_secs(1))).await;
        warm_up(&opened.log).await;
        assert_eq!(opened.dir.stats().journal_frames.get(), 0);
        assert_eq!((journals_of_node().await, opened.log.synced_offset()), (0, Offset(6)));
        opened.close().await;
    });
}

#[test]
fn a_log_without_a_topic_id_goes_past_it() {
    let (sim, node) = Sim::with_node(11);
    sim.block_on(&node, async {
        let opened = open("/data", LogConfig::default(), calm()).await;
        warm_up(&opened.log).await;
        let frames = opened.dir.stats().journal_frames.get();
        let of = TopicPartition::new("nameless", 0);
        let log = opened.dir.create_log(of, Uuid::ZERO, LogConfig::default()).await.unwrap();
        warm_up(&log).await;
        assert_eq!((opened.dir.stats().journal_frames.get(), log.synced_offset()), (frames, Offset(6)));
        opened.close().await;
    });
}

#[test]
fn a_failed_write_or_sync_of_it_fails_the_directory() {
    for op in [FaultOp::Write, FaultOp::Sync] {
        let (sim, node) = Sim::with_node(12);
        let disk = node.disk();
        sim.block_on(&node, async move {
            let opened = open("/data", LogConfig::default(), calm()).await;
            warm_up(&opened.log).await;
            disk.fail_after(op, "ringlog-journal", 0, 1);
            append(&opened.log, batch(9, 1, 100, 5), 0).await;
            assert!(opened.log.flush().await.is_err());
            assert!(opened.dir.failure().unwrap().contains("journal"), "{:?}", opened.dir.failure());
            assert!(!opened.dir.close().await.clean);
        });
        assert!(!journals(&node).is_empty(), "the next start needs it");
    }
}

#[test]
fn records_in_it_are_not_synced_while_what_went_past_it_is_not() {
    let (sim, node) = Sim::with_node(13);
    sim.block_on(&node, async {
        let config = LogConfig { sync: false, ..LogConfig::default() };
        let opened = open("/data", config, calm()).await;
        warm_up(&opened.log).await;
        // Past the journal and not synced; then one that is in a synced frame.
        let large = append(&opened.log, batch(6, 1, 100_000, 5), 0).await.plus(1);
        opened.log.wait_written(large).await.unwrap();
        let small = append(&opened.log, batch(7, 1, 100, 5), 0).await.plus(1);
        opened.log.wait_written(small).await.unwrap();
        let neighbour = many(&opened.dir, 1).await.remove(0);
        warm_up(&neighbour).await;
        assert!(opened.log.synced_offset() < large);
        opened.log.flush().await.unwrap();
        assert_eq!(opened.log.synced_offset(), small);
        opened.close().await;
    });
}

/// Frames void by later ones, all of it in the segments, and a stop.
async fn truncate_and_stop() {
    let opened =
        open("/data", LogConfig::default(), journal(128 << 10, 64 << 10, Duration::from_secs(3_600))).await;
    warm_up(&opened.log).await;
    opened.log.truncate_to(Offset(2)).await.unwrap();
    for tag in 50..60 {
        append(&opened.log, batch(tag, 1, 100, 5), 0).await;
        opened.log.flush().await.unwrap();
    }
    opened.close().await;
}

/// A crash amid the removal of the journal's files brought back what was truncated: a floor frame's file was gone, and the
/// one with what it voids wasn't.
#[test]
fn a_removal_cut_short_brings_nothing_back() {
    for seed in 0..60 {
        let (sim, node) = Sim::with_node(seed);
        let task = node.spawn(truncate_and_stop());
        // Until the first of them is removed, and a few steps on.
        let mut most = 0;
        while journals(&node).len() >= most {
            most = most.max(journals(&node).len());
            sim.run_steps(1);
        }
        sim.run_steps(seed % 12);
        node.crash(Crash::PowerCut);
        drop(task);
        sim.block_on(&node, async {
            let opened = open("/data", LogConfig::default(), calm()).await;
            assert_eq!(tags(&opened.log).await, [0, 1].into_iter().chain(50..60).collect::<Vec<_>>());
            opened.close().await;
        });
    }
}

/// A floor frame that was written behind a frame whose sync had failed, at the start of the next file, had the replay take
/// all before it for freed.
#[test]
fn nothing_follows_a_frame_whose_sync_failed() {
    for more in 0..3 {
        let (sim, node) = Sim::with_node(421);
        let disk = node.disk();
        sim.block_on(&node, async move {
            let small = journal(128 << 10, 64 << 10, Duration::from_secs(3_600));
            let opened = open("/data", LogConfig::default(), small).await;
            let passing = many(&opened.dir, 1).await.remove(0);
            for tag in 0..8 + more {
                append(&opened.log, batch(tag, 1, 100, 5), 0).await;
                append(&passing, batch(tag, 1, 100, 5), 0).await;
                opened.log.flush().await.unwrap();
                passing.flush().await.unwrap();
                // The files are made meanwhile.
                rt::sleep(Duration::from_millis(20)).await;
            }
            assert!(opened.dir.stats().journal_frames.get() > 3);
            assert_eq!(opened.dir.stats().journal_checkpoints.get(), 0);
            disk.fail_after(FaultOp::Sync, "ringlog-journal", 0, 1);
            append(&opened.log, batch(99, 1, 100, 5), 0).await;
            assert!(opened.log.flush().await.is_err());
            assert!(opened.dir.delete_log(passing.partition()).await.is_err());
        });
        node.crash(Crash::Kill);
        sim.block_on(&node, async move {
            let opened = open("/data", LogConfig::default(), calm()).await;
            let found = tags(&opened.log).await;
            assert_eq!(found[..8 + more as usize], (0..8 + more).collect::<Vec<_>>());
            opened.close().await;
        });
    }
}
