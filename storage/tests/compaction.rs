//! What compaction does beside compacting: readers, limits, full disks, damage, configs, Kafka's files.
#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

mod common;
mod keyed;

use std::time::Duration;

use keyed::{RETENTION_MS, close_segment, offsets};
use protocol::records::{BatchBuilder, RecordBatch};
use rt::sim::{Crash, FaultOp, Node, Sim};
use storage::{
    CleanerConfig, CompactionConfig, CompactionError, Log, LogConfig, LogDirConfig, Offset, ReadError,
};

fn config() -> LogConfig {
    LogConfig { segment_bytes: 20_000, tail_bytes_max: 0, ..keyed::config(0) }
}

fn run<F: Future<Output = ()> + 'static>(test: impl FnOnce(Node) -> F) {
    let (sim, node) = Sim::with_node(1);
    let work = test(node.clone());
    sim.block_on(&node, work);
}

/// A batch of records with these keys, 100 bytes each; a null value for a key in capitals.
async fn append(log: &Log, keys: &str) -> i64 {
    let mut batch = BatchBuilder::new();
    for key in keys.chars() {
        let value = key.is_lowercase().then_some(&[b'v'; 100][..]);
        batch.push(rt::unix_ms(), Some(key.to_lowercase().to_string().as_bytes()), value, &[]);
    }
    common::append(log, RecordBatch::parse(batch.build().unwrap()).unwrap(), 0).await.0
}

async fn compact(log: &Log) -> Option<storage::Compacted> {
    log.compact(CleanerConfig::default(), log.durable_offset()).await.unwrap()
}

/// Segments of one batch each, then an active one.
async fn segments(log: &Log, batches: &[&str]) {
    for keys in batches {
        append(log, keys).await;
        close_segment(log).await;
    }
}

async fn open(config: LogConfig) -> common::Open {
    common::open("/data", config, LogDirConfig::default()).await
}

#[test]
fn small_segments_become_one_and_the_active_one_stays() {
    run(|node| async move {
        let opened = open(config()).await;
        let log = &opened.log;
        segments(log, &["abc", "ab", "b", "c"]).await;
        append(log, "a").await;
        let done = compact(log).await.unwrap();
        assert_eq!((done.upto, done.removed_records, done.keys), (Offset(7), 4, 3));
        assert_eq!(log.segment_count(), 2);
        assert_eq!(offsets(log).await, [3, 5, 6, 7]);
        assert_eq!(compact(log).await, None, "nothing is dirty");
        let names = node.disk().names("/data/orders-0");
        let logs: Vec<_> = names.iter().filter(|name| name.ends_with(".log")).collect();
        assert_eq!(logs, ["00000000000000000000.log", "00000000000000000007.log"], "{names:?}");
        assert!(!names.iter().any(|name| name.contains(".swap") || name.contains(".cleaned")), "{names:?}");
        opened.close().await;
        let text = node.disk().read_file("/data/cleaner-offset-checkpoint").unwrap();
        assert_eq!(text, "0\n1\norders 0 7\n", "as Kafka writes it");
    });
}

#[test]
fn kafkas_checkpoint_counts_after_a_clean_stop_and_losing_both_costs_work_only() {
    run(|node| async move {
        let opened = open(config()).await;
        segments(&opened.log, &["ab", "ab"]).await;
        compact(&opened.log).await.unwrap();
        opened.close().await;
        node.disk().put_file("/data/cleaner-offset-checkpoint", "0\n1\norders 0 2\n").unwrap();
        let opened = open(config()).await;
        assert_eq!(opened.log.cleaned_offset(), Some(Offset(2)), "Kafka may have been here");
        assert!(!node.disk().names("/data").contains(&"cleaner-offset-checkpoint".into()), "history by now");
        opened.close().await;
        node.disk().put_file("/data/cleaner-offset-checkpoint", "0\n1\norders 0 99\n").unwrap();
        let opened = open(config()).await;
        assert_eq!(opened.log.cleaned_offset(), None, "it lies behind the log's end");
        opened.close().await;
        node.disk().put_file("/data/cleaner-offset-checkpoint", "rubbish").unwrap();
        let opened = open(config()).await;
        assert_eq!(opened.log.cleaned_offset(), None);
        segments(&opened.log, &["c"]).await;
        assert_eq!(compact(&opened.log).await.unwrap().keys, 3, "all of it was dirty");
        assert_eq!(offsets(&opened.log).await, [2, 3, 4]);
    });
}

#[test]
fn a_reader_that_has_begun_goes_on_and_one_in_a_hole_finds_the_next() {
    run(|_| async move {
        let opened = open(config()).await;
        let log = opened.log.clone();
        segments(&log, &["aaaaaaaa", "bbbbbbbb", "abab", "c"]).await;
        let reader = log.clone();
        let reading = rt::spawn(async move {
            let mut seen = Vec::new();
            let (mut at, end) = (Offset(0), reader.end_offset());
            while at < end {
                let slice = reader.read(at, end, 200, true).await.unwrap();
                assert!(slice.next_offset > at);
                at = slice.next_offset;
                for batch in common::batches(slice) {
                    seen.extend(batch.records().map(|record| record.unwrap().offset));
                }
                rt::sleep(Duration::from_micros(rt::random_u64() % 500)).await;
            }
            seen
        });
        compact(&log).await.unwrap();
        let seen = reading.await;
        let last: Vec<i64> = seen.iter().copied().filter(|offset| [18, 19, 20].contains(offset)).collect();
        assert_eq!(last, [18, 19, 20], "{seen:?}");
        assert!(seen.is_sorted());
        for from in [0, 3, 17, 18] {
            let slice = log.read(Offset(from), log.end_offset(), 1, true).await.unwrap();
            let batch = &common::batches(slice)[0];
            assert_eq!(batch.records().next().unwrap().unwrap().offset, 18, "from {from}");
        }
        assert_eq!(log.start_offset(), Offset(0));
    });
}

#[test]
fn what_memory_held_of_replaced_segments_is_gone() {
    run(|_| async move {
        let opened = open(LogConfig { tail_bytes_max: 1 << 20, ..config() }).await;
        segments(&opened.log, &["aaaa", "bb", "ab"]).await;
        compact(&opened.log).await.unwrap();
        assert_eq!(offsets(&opened.log).await, [6, 7]);
    });
}

#[test]
fn reads_go_through_segments_without_records_to_the_next_one_with_some() {
    run(|_| async move {
        // Each too large to be put together with another.
        let opened = open(LogConfig { segment_bytes: 600, ..config() }).await;
        let log = &opened.log;
        segments(log, &["abcd", "abcd", "abcd", "abcd", "abcd"]).await;
        compact(log).await.unwrap();
        assert_eq!(log.segment_count(), 6);
        let slice = log.read(Offset(0), log.end_offset(), 5_000, true).await.unwrap();
        let counts: Vec<i32> =
            common::batches(slice).iter().map(|batch| batch.header().records_count).collect();
        assert_eq!(counts, [0, 0, 0, 0, 4]);
        let slice = log.read(Offset(0), Offset(9), 5_000, true).await.unwrap();
        assert_eq!(
            (common::batches(slice.clone()).len(), slice.next_offset),
            (3, Offset(12)),
            "those before 9"
        );
        let slice = log.read(Offset(0), log.end_offset(), 100, true).await.unwrap();
        assert_eq!((slice.bytes, slice.next_offset), (61, Offset(4)), "the next doesn't fit");
        let slice = log.read(Offset(0), log.end_offset(), 10, false).await.unwrap();
        assert_eq!((slice.bytes, slice.next_offset), (0, Offset(0)));
    });
}

#[test]
fn the_map_may_be_too_small_for_one_batch_and_the_log_gets_compacted_all_the_same() {
    run(|_| async move {
        let opened = open(config()).await;
        let log = &opened.log;
        segments(log, &["abcdefgh", "ABCDefgh", "ijkl"]).await;
        let tiny = CleanerConfig { map_bytes: 0, ..CleanerConfig::default() };
        let mut passes = 0;
        while let Some(done) = log.compact(tiny, log.durable_offset()).await.unwrap() {
            assert_eq!(done.is_partial, done.upto < Offset(20));
            passes += 1;
        }
        assert_eq!((passes, log.cleaned_offset()), (20, Some(Offset(20))), "a key each");
        assert_eq!(offsets(log).await, (8..20).collect::<Vec<i64>>());
    });
}

#[test]
fn only_what_is_old_enough_and_below_the_high_watermark_is_compacted() {
    run(|_| async move {
        let lag = |min_lag_ms| LogConfig {
            compaction: Some(CompactionConfig { min_lag_ms, ..CompactionConfig::default() }),
            ..config()
        };
        let opened = open(lag(10_000)).await;
        let log = &opened.log;
        segments(log, &["aa"]).await;
        rt::sleep(Duration::from_secs(6)).await;
        segments(log, &["aa"]).await;
        assert_eq!(compact(log).await, None, "all of it is too young");
        rt::sleep(Duration::from_secs(6)).await;
        assert_eq!(compact(log).await.unwrap().upto, Offset(2));
        log.set_config(lag(0));
        assert_eq!(log.compact(CleanerConfig::default(), Offset(3)).await.unwrap(), None, "within a segment");
        assert_eq!(compact(log).await.unwrap().upto, Offset(4), "a changed config acts at once");
        log.set_config(LogConfig { compaction: None, ..config() });
        segments(log, &["aa"]).await;
        assert_eq!(compact(log).await, None);
    });
}

#[test]
fn the_dirtiest_log_that_is_due_comes_first() {
    run(|_| async move {
        let due = |ratio, max_lag_ms| LogConfig {
            compaction: Some(CompactionConfig {
                min_cleanable_ratio: ratio,
                max_lag_ms,
                ..CompactionConfig::default()
            }),
            ..config()
        };
        let never = i64::MAX as u64;
        let opened = open(due(0.3, never)).await;
        let dir = &opened.dir;
        let cleaner = CleanerConfig::default();
        let pass = async || dir.compact_dirtiest(cleaner, |log| Some(log.durable_offset())).await;
        assert_eq!(pass().await, None, "an empty log");
        let other = storage::TopicPartition::new("other", 0);
        let other = dir.create_log(other, protocol::types::Uuid([8; 16]), due(0.3, never)).await.unwrap();
        segments(&opened.log, &["ab", "ab"]).await;
        segments(&other, &["ab", "ab"]).await;
        let first = pass().await.unwrap();
        let second = pass().await.unwrap();
        assert_ne!(first.partition, second.partition);
        assert_eq!(pass().await, None);
        assert_eq!(dir.compaction_dirtiest(), 0.0);
        // A third of it is dirty, then more.
        segments(&other, &["a"]).await;
        other.set_config(due(0.9, never));
        assert_eq!(pass().await, None);
        assert!(dir.compaction_dirtiest() > 0.2 && dir.compaction_dirtiest() < 0.9);
        other.set_config(due(0.9, 5_000));
        assert_eq!(pass().await, None, "not overdue yet");
        rt::sleep(Duration::from_secs(6)).await;
        assert_eq!(pass().await.unwrap().partition, *other.partition());
        assert_eq!(dir.compact_dirtiest(cleaner, |_| None).await, None, "led by nobody here");
        assert!(dir.compaction_looked_at().is_some());
    });
}

#[test]
fn a_rate_is_kept() {
    run(|_| async move {
        let opened = open(config()).await;
        segments(&opened.log, &["aaaaaaaa", "aaaaaaaa", "bbbbbbbb"]).await;
        let slow = CleanerConfig { bytes_per_second: 1_000.0, ..CleanerConfig::default() };
        let begun = rt::now();
        let done = opened.log.compact(slow, opened.log.durable_offset()).await.unwrap().unwrap();
        let least = Duration::from_millis(done.read_bytes + done.written_bytes - 1_000);
        assert!(rt::now() - begun >= least, "{done:?} in {:?}", rt::now() - begun);
    });
}

#[test]
fn a_pass_is_called_off_by_a_stop_a_cut_and_a_deletion() {
    run(|_| async move {
        for end in 0..3 {
            let opened = open(config()).await;
            let log = opened.log.clone();
            segments(&log, &["aaaaaaaa", "bbbbbbbb", "abab"]).await;
            let slow = CleanerConfig { bytes_per_second: 200.0, ..CleanerConfig::default() };
            let passing = log.clone();
            let pass = rt::spawn(async move { passing.compact(slow, passing.durable_offset()).await });
            rt::sleep(Duration::from_secs(1)).await;
            match end {
                0 => log.truncate_to(Offset(9)).await.unwrap(),
                1 => opened.dir.delete_log(log.partition()).await.unwrap(),
                _ => drop(opened.dir.close().await),
            }
            assert!(matches!(pass.await, Err(CompactionError::CalledOff)), "{end}");
            if end == 0 {
                assert_eq!(offsets(&log).await, (0..8).collect::<Vec<i64>>());
                assert_eq!(compact(&log).await.unwrap().upto, Offset(8), "what is left of it");
                opened.dir.delete_log(log.partition()).await.unwrap();
            }
        }
    });
}

#[test]
fn a_full_disk_ends_the_pass_and_costs_nothing_else() {
    run(|node| async move {
        let opened = open(config()).await;
        let log = &opened.log;
        segments(log, &["aaaaaaaa", "bbbbbbbb", "abab"]).await;
        let before = offsets(log).await;
        node.disk().fail(FaultOp::Rename, ".log.cleaned", 1);
        let full = log.compact(CleanerConfig::default(), log.durable_offset()).await;
        assert!(matches!(full, Err(CompactionError::NoSpace)), "{full:?}");
        assert!(!log.is_offline() && log.uncleanable().is_none());
        assert_eq!(offsets(log).await, before);
        let names = node.disk().names("/data/orders-0");
        assert!(!names.iter().any(|name| name.contains(".swap") || name.contains(".cleaned")), "{names:?}");
        // Behind the decision it waits for space.
        node.disk().fail(FaultOp::Rename, ".log.swap", 3);
        compact(log).await.unwrap();
        assert_eq!(offsets(log).await, [18, 19]);
    });
}

#[test]
fn a_damaged_log_is_left_alone_and_the_others_go_on() {
    run(|node| async move {
        let opened = open(config()).await;
        let dir = &opened.dir;
        segments(&opened.log, &["ab", "ab"]).await;
        let other = storage::TopicPartition::new("other", 0);
        let other = dir.create_log(other, protocol::types::Uuid([8; 16]), config()).await.unwrap();
        segments(&other, &["ab", "ab"]).await;
        node.disk().corrupt("/data/orders-0/00000000000000000000.log", 90, 1).unwrap();
        let pass = || dir.compact_dirtiest(CleanerConfig::default(), |log| Some(log.durable_offset()));
        assert_eq!(pass().await.unwrap().partition, *other.partition());
        assert_eq!(pass().await, None);
        let reason = opened.log.uncleanable().unwrap();
        assert!(reason.contains("00000000000000000000.log at 0") && reason.contains("CRC"), "{reason}");
        assert!(!opened.log.is_offline());
        assert_eq!(dir.stats().compaction_failed_passes.get(), 1);
    });
}

#[test]
fn a_failed_write_or_sync_takes_the_directory_offline() {
    for (op, path) in [(FaultOp::Write, ".log.cleaned"), (FaultOp::Sync, ".log.cleaned")] {
        run(|node| async move {
            let opened = open(config()).await;
            segments(&opened.log, &["aaaa", "aaaa"]).await;
            node.disk().fail(op, path, 1);
            let failed = opened.log.compact(CleanerConfig::default(), opened.log.durable_offset()).await;
            assert!(matches!(failed, Err(CompactionError::Storage(_))), "{failed:?}");
            assert!(opened.log.is_offline() && opened.dir.failure().is_some());
            let read = opened.log.read(Offset(0), Offset(8), 100, true).await;
            assert!(matches!(read, Err(ReadError::Offline)));
        });
    }
}

#[test]
fn tombstones_and_what_they_delete_go_in_time() {
    run(|_| async move {
        let opened = open(config()).await;
        let log = &opened.log;
        segments(log, &["abc", "A"]).await;
        compact(log).await.unwrap();
        assert_eq!(offsets(log).await, [1, 2, 3]);
        rt::sleep(Duration::from_millis(RETENTION_MS + 1)).await;
        assert_eq!(compact(log).await, None, "nothing is dirty, as in Kafka");
        segments(log, &["d"]).await;
        compact(log).await.unwrap();
        assert_eq!(offsets(log).await, [1, 2, 4]);
    });
}

#[test]
fn kafkas_swap_files_are_finished_at_the_next_start() {
    let (sim, node) = Sim::with_node(3);
    sim.block_on(&node, async {
        let opened = open(config()).await;
        segments(&opened.log, &["aaaa", "bbbb", "ab"]).await;
        append(&opened.log, "c").await;
        opened.log.flush().await.unwrap();
    });
    node.crash(Crash::PowerCut);
    // What compacts the first two segments: the last batch of the second.
    let disk = node.disk();
    let second = disk.read_file("/data/orders-0/00000000000000000004.log").unwrap();
    disk.put_file("/data/orders-0/00000000000000000000.log.swap", second.clone()).unwrap();
    disk.put_file("/data/orders-0/00000000000000000000.index.swap", "rubbish").unwrap();
    disk.put_file("/data/orders-0/00000000000000000008.log.cleaned", "rubbish").unwrap();
    sim.block_on(&node, async {
        let opened = open(config()).await;
        assert_eq!(offsets(&opened.log).await, [4, 5, 6, 7, 8, 9, 10]);
        assert_eq!(opened.log.segment_count(), 3);
        opened.close().await;
    });
    let names = node.disk().names("/data/orders-0");
    assert!(!names.iter().any(|name| name.contains(".swap") || name.contains(".cleaned")), "{names:?}");
    // One that isn't whole is left for repair, with what it would replace.
    disk.put_file("/data/orders-0/00000000000000000000.log.swap", second.slice(..second.len() - 1)).unwrap();
    sim.block_on(&node, async {
        let opened = open(config()).await;
        assert!(
            matches!(opened.log.status(), storage::LogStatus::Corrupt(reason) if reason.contains(".swap"))
        );
    });
    assert!(node.disk().names("/data/orders-0").contains(&"00000000000000000000.log.swap".into()));
}

#[test]
fn a_log_cut_in_a_gap_ends_where_its_last_batch_ends_and_survives_a_crash() {
    let (sim, node) = Sim::with_node(4);
    sim.block_on(&node, async {
        let opened = open(config()).await;
        let log = &opened.log;
        segments(log, &["abcd", "abcd", "x", "abcd"]).await;
        compact(log).await.unwrap();
        assert_eq!(offsets(log).await, [8, 9, 10, 11, 12]);
        log.checkpoint().await.unwrap();
        log.truncate_to(Offset(7)).await.unwrap();
        assert_eq!(log.end_offset(), Offset(0));
        append(log, "z").await;
        log.flush().await.unwrap();
    });
    node.crash(Crash::PowerCut);
    sim.block_on(&node, async {
        let opened = open(config()).await;
        assert!(!opened.log.is_offline(), "{:?}", opened.log.status());
        assert_eq!(offsets(&opened.log).await, [0]);
    });
}
