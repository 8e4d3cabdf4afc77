//! Bookmarks: what a start after a crash needn't scan, and what it doesn't believe.
#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

mod common;

use common::{Open, append, batch, idempotent, open, read_all, tags};
use protocol::types::Uuid;
use rt::sim::{Crash, Node, Sim};
use storage::{LeaderEpoch, LogConfig, LogDirConfig, Offset, TimestampSource, TopicPartition};

const SEGMENT: &str = "/data/orders-0/00000000000000000000.log";
const FILE: &str = "/data/ringlog-bookmarks-0";

/// Batches appended before the bookmark, and behind it.
const BEFORE: u64 = 40;
const BEHIND: u64 = 3;

async fn reopen() -> Open {
    open("/data", LogConfig::default(), LogDirConfig::default()).await
}

/// So many batches from `first` on, durable; each third of a producer.
async fn fill(opened: &Open, first: u64, count: u64, epoch: i32) {
    for tag in first..first + count {
        let made = match tag % 3 {
            0 => idempotent(tag, 1, 9_000, 5, (7, 0, tag as i32 / 3)),
            _ => batch(tag, 1, 9_000, 5 + tag as i64),
        };
        append(&opened.log, made, epoch).await;
    }
    opened.log.flush().await.unwrap();
}

/// A log with a bookmark and something behind it, after a crash.
fn crashed(sim: &Sim, node: &Node) {
    sim.block_on(node, async {
        let opened = reopen().await;
        fill(&opened, 0, BEFORE, 0).await;
        opened.dir.write_bookmarks().await.unwrap();
        fill(&opened, BEFORE, BEHIND, 1).await;
    });
    node.crash(Crash::PowerCut);
}

/// Everything is there, whatever a start made of it.
async fn check_whole(opened: &Open) {
    assert_eq!(tags(&opened.log).await, (0..BEFORE + BEHIND).collect::<Vec<_>>());
    let epochs = [0, BEFORE - 1, BEFORE].map(|at| opened.log.epoch_at(Offset(at as i64)));
    assert_eq!(epochs, [0, 0, 1].map(|epoch| Some(LeaderEpoch(epoch))));
    let mut last = None;
    opened.log.visit_producers(|id, entry| last = Some((id, entry.last_sequence(), entry.last_offset())));
    assert_eq!(last, Some((7, 14, 42)));
    let found = opened.log.offset_for_timestamp(25, opened.log.end_offset()).await.unwrap().unwrap();
    assert_eq!(found.offset, Offset(20));
}

fn scanned(opened: &Open) -> u64 {
    opened.dir.stats().scanned_bytes.get()
}

/// What a start scans without a bookmark.
const ALL: std::ops::Range<u64> = 9_000 * (BEFORE + BEHIND)..9_200 * (BEFORE + BEHIND);
/// And with one.
const REST: std::ops::Range<u64> = 9_000 * BEHIND..9_200 * BEHIND;

#[test]
fn a_start_after_a_crash_scans_what_lies_behind_the_bookmark() {
    let (sim, node) = Sim::with_node(1);
    crashed(&sim, &node);
    sim.block_on(&node, async {
        let opened = reopen().await;
        assert!(REST.contains(&scanned(&opened)), "{}", scanned(&opened));
        check_whole(&opened).await;
        // What it found out is written down, and it goes on behind.
        opened.dir.write_bookmarks().await.unwrap();
    });
    node.crash(Crash::Kill);
    sim.block_on(&node, async {
        let opened = reopen().await;
        assert_eq!(scanned(&opened), 0);
        check_whole(&opened).await;
        opened.close().await;
        let opened = reopen().await;
        check_whole(&opened).await;
    });
}

/// Has the start meet something else than the bookmark speaks of.
fn with(change: impl FnOnce(&Node)) -> u64 {
    let (sim, node) = Sim::with_node(1);
    crashed(&sim, &node);
    change(&node);
    sim.block_on(&node, async {
        let opened = reopen().await;
        check_whole(&opened).await;
        scanned(&opened)
    })
}

#[test]
fn a_file_that_is_missing_or_damaged_costs_time_only() {
    let without = with(|node| node.disk().put_file(FILE, "").unwrap());
    assert!(ALL.contains(&without), "{without}");
    for at in [0, 5, 9, 100] {
        let damaged = with(|node| node.disk().corrupt(FILE, at, 1).unwrap());
        assert!(ALL.contains(&damaged), "{damaged} with another byte {at}");
    }
}

#[test]
fn a_segment_that_is_shorter_than_the_bookmark_says_is_scanned() {
    let (sim, node) = Sim::with_node(1);
    crashed(&sim, &node);
    let whole = node.disk().read_file(SEGMENT).unwrap();
    node.disk().put_file(SEGMENT, whole.slice(..9_200 * 10)).unwrap();
    sim.block_on(&node, async {
        let opened = reopen().await;
        let found = tags(&opened.log).await;
        assert!((9..=10).contains(&found.len()), "{found:?}");
        assert_eq!(found, (0..found.len() as u64).collect::<Vec<_>>());
        assert_eq!(opened.log.end_offset(), Offset(found.len() as i64));
    });
}

#[test]
fn a_log_that_was_cut_and_written_anew_has_no_bookmark() {
    let (sim, node) = Sim::with_node(1);
    sim.block_on(&node, async {
        let opened = reopen().await;
        fill(&opened, 0, 30, 0).await;
        opened.dir.write_bookmarks().await.unwrap();
        opened.log.truncate_to(Offset(6)).await.unwrap();
        // As long as before, in the same epoch, with the same sizes.
        for tag in 0..30 {
            append(&opened.log, batch(1_000 + tag, 1, 9_000, 5), 0).await;
        }
        opened.log.flush().await.unwrap();
    });
    node.crash(Crash::PowerCut);
    sim.block_on(&node, async {
        let opened = reopen().await;
        assert!(scanned(&opened) > 9_000 * 36, "{}", scanned(&opened));
        assert_eq!(tags(&opened.log).await[5..8], [5, 1_000, 1_001]);
        let mut last = None;
        opened.log.visit_producers(|_, entry| last = Some(entry.last_offset()));
        assert_eq!(last, Some(3));
    });
}

#[test]
fn a_topic_made_anew_has_no_bookmark() {
    let (sim, node) = Sim::with_node(1);
    let of = || TopicPartition::new("other", 0);
    sim.block_on(&node, async move {
        let opened = reopen().await;
        let log = opened.dir.ensure_log(of(), Uuid([8; 16]), LogConfig::default()).await.unwrap();
        for tag in 0..5 {
            append(&log, batch(tag, 1, 100, 5), 0).await;
        }
        opened.dir.write_bookmarks().await.unwrap();
        opened.dir.delete_log(&of()).await.unwrap();
        let log = opened.dir.ensure_log(of(), Uuid([9; 16]), LogConfig::default()).await.unwrap();
        for tag in 0..5 {
            append(&log, batch(tag, 1, 100, 5), 0).await;
        }
        log.flush().await.unwrap();
    });
    node.crash(Crash::Kill);
    sim.block_on(&node, async move {
        let opened = reopen().await;
        let log = opened.dir.open_log(of(), LogConfig::default()).await.unwrap();
        assert!(scanned(&opened) > 500, "{}", scanned(&opened));
        assert_eq!(read_all(&log, Offset(0), 9_000).await.len(), 5);
    });
}

/// The broker's time changes a batch, and so its CRC.
#[test]
fn batches_that_got_the_brokers_time_are_known_again() {
    let (sim, node) = Sim::with_node(1);
    let config =
        || LogConfig { timestamps: TimestampSource::LogAppendTime, sync: false, ..LogConfig::default() };
    sim.block_on(&node, async move {
        let opened = open("/data", config(), LogDirConfig::default()).await;
        for tag in 0..5 {
            append(&opened.log, batch(tag, 2, 900, 5), 0).await;
        }
        opened.dir.write_bookmarks().await.unwrap();
    });
    node.crash(Crash::PowerCut);
    sim.block_on(&node, async move {
        let opened = open("/data", config(), LogDirConfig::default()).await;
        assert_eq!(scanned(&opened), 0);
        assert_eq!(tags(&opened.log).await, [0, 1, 2, 3, 4]);
    });
}

#[test]
fn bookmarks_of_a_start_with_more_shards_count_until_others_say_more() {
    let (sim, node) = Sim::with_node(1);
    crashed(&sim, &node);
    let bookmarks = node.disk().read_file(FILE).unwrap();
    node.disk().put_file(FILE, "").unwrap();
    node.disk().put_file("/data/ringlog-bookmarks-7", bookmarks).unwrap();
    sim.block_on(&node, async {
        let opened = reopen().await;
        assert!(REST.contains(&scanned(&opened)), "{}", scanned(&opened));
        opened.dir.write_bookmarks().await.unwrap();
    });
    node.crash(Crash::Kill);
    sim.block_on(&node, async {
        assert_eq!(scanned(&reopen().await), 0);
    });
    let left: Vec<String> = node.disk().names("/data");
    assert!(!left.contains(&"ringlog-bookmarks-7".to_owned()), "{left:?}");
}

#[test]
fn bookmarks_are_written_by_themselves_only_when_much_lies_behind_them() {
    let (sim, node) = Sim::with_node(1);
    sim.block_on(&node, async {
        let opened = reopen().await;
        fill(&opened, 0, BEFORE, 0).await;
        opened.dir.write_bookmarks_if_due().await.unwrap();
        assert!(!rt::fs::exists(FILE).await);
        for tag in 0..70 {
            append(&opened.log, batch(tag, 1, 1 << 20, 5), 0).await;
        }
        opened.dir.write_bookmarks_if_due().await.unwrap();
        assert!(rt::fs::exists(FILE).await);
    });
}
