//! Compaction when a file can't be opened, read or written, and beside retention.
#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

mod common;
mod keyed;

use std::rc::Rc;
use std::time::Duration;

use keyed::{close_segment, offsets};
use protocol::records::{BatchBuilder, RecordBatch};
use rt::sim::{FaultOp, Latency, Node, Sim};
use storage::{CleanerConfig, CompactionError, Log, LogConfig, LogDirConfig, Offset};

const HOUR_MS: i64 = 3_600_000;

fn config() -> LogConfig {
    LogConfig { segment_bytes: 20_000, tail_bytes_max: 0, ..keyed::config(0) }
}

fn run<F: Future<Output = ()> + 'static>(test: impl FnOnce(Node) -> F) {
    let (sim, node) = Sim::with_node(1);
    let work = test(node.clone());
    sim.block_on(&node, work);
}

/// A batch of records with these keys, 100 bytes each.
async fn append(log: &Log, keys: &str) {
    let mut batch = BatchBuilder::new();
    for key in keys.chars() {
        batch.push(rt::unix_ms(), Some(key.to_string().as_bytes()), Some(&[b'v'; 100]), &[]);
    }
    common::append(log, RecordBatch::parse(batch.build().unwrap()).unwrap(), 0).await;
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

/// Segments of one record each, with these keys, some of which are old.
async fn segments_of(log: &Log, records: &[(&str, bool)]) {
    for (key, is_old) in records {
        let age_ms = if *is_old { 2 * HOUR_MS } else { 0 };
        let mut batch = BatchBuilder::new();
        batch.push(rt::unix_ms() - age_ms, Some(key.as_bytes()), Some(b"value"), &[]);
        common::append(log, RecordBatch::parse(batch.build().unwrap()).unwrap(), 0).await;
        close_segment(log).await;
    }
}

/// The second segment becomes a part of the first while retention reads how old that is: it stays, and what follows too.
#[test]
fn what_is_compacted_while_retention_looks_at_it_is_looked_at_anew() {
    for seed in 0..150 {
        let (sim, node) = Sim::with_node(seed);
        let disk = node.disk();
        sim.block_on(&node, async move {
            let with_delete = LogConfig { delete: true, retention_ms: Some(HOUR_MS as u64), ..config() };
            let opened = open(with_delete.clone()).await;
            segments_of(&opened.log, &[("a", true), ("b", false), ("c", true), ("d", false)]).await;
            opened.close().await;
            // It knows no segment's newest record now.
            let opened = open(with_delete).await;
            let log = opened.log.clone();
            // A read takes long enough for a whole replacement.
            let quick = Latency { sync_us: 10..=50, name_us: 10..=20, ..Latency::default() };
            disk.set_latency(Latency { read_us: 10..=2_000, ..quick });
            let passing = log.clone();
            let pass = rt::spawn(async move { passing.compact(CleanerConfig::default(), Offset(2)).await });
            rt::sleep(Duration::from_micros(rt::random_u64() % 10_000)).await;
            log.retain(log.end_offset(), rt::unix_ms()).await.unwrap();
            let done = pass.await;
            assert!(matches!(done, Ok(Some(_)) | Err(CompactionError::CalledOff)), "{seed}: {done:?}");
            assert!(log.start_offset() <= Offset(1), "{seed}: it starts at {}", log.start_offset());
            assert!(offsets(&log).await.ends_with(&[1, 2, 3]), "{seed}");
        });
    }
}

#[test]
fn a_file_that_cant_be_read_now_is_tried_again_later_and_the_others_go_on() {
    run(|node| async move {
        let opened = open(config()).await;
        let dir = &opened.dir;
        segments(&opened.log, &["ab", "ab"]).await;
        let other = storage::TopicPartition::new("other", 0);
        let other = dir.create_log(other, protocol::types::Uuid([8; 16]), config()).await.unwrap();
        segments(&other, &["ab", "ab"]).await;
        node.disk().fail(FaultOp::Read, "orders-0/00000000000000000000.log", 1);
        let pass = || dir.compact_dirtiest(CleanerConfig::default(), |log| Some(log.durable_offset()));
        assert_eq!(pass().await.unwrap().partition, *other.partition());
        assert_eq!(pass().await, None);
        assert_eq!(pass().await, None, "not at once");
        rt::sleep(Duration::from_secs(61)).await;
        let done = pass().await.map(|done| done.partition);
        assert_eq!(done.as_ref(), Some(opened.log.partition()), "{:?}", opened.log.uncleanable());
        assert_eq!((opened.log.uncleanable(), opened.log.is_offline()), (None, false));
        assert_eq!(dir.stats().compaction_failed_passes.get(), 1);
    });
}

/// What fails for reasons that say nothing about the medium costs the pass, and nothing else.
#[test]
fn a_refused_name_ends_the_pass_and_the_next_one_goes_on() {
    for path in [".log.cleaned", ".index.cleaned", "ringlog-cleaned"] {
        run(|node| async move {
            let opened = open(config()).await;
            let log = &opened.log;
            segments(log, &["aaaa", "aaaa"]).await;
            node.disk().fail(FaultOp::RenameBusy, path, 1);
            let refused = log.compact(CleanerConfig::default(), log.durable_offset()).await;
            assert_eq!(opened.dir.failure(), None, "{path}");
            if path == "ringlog-cleaned" {
                assert_eq!(refused.unwrap().unwrap().upto, Offset(8), "it is only remembered");
                assert_eq!(log.cleaned_offset(), Some(Offset(8)));
                return;
            }
            assert!(matches!(refused, Err(CompactionError::Storage(_))), "{path}: {refused:?}");
            let names = node.disk().names("/data/orders-0");
            assert!(
                !names.iter().any(|name| name.ends_with(".swap") || name.ends_with(".cleaned")),
                "{names:?}"
            );
            assert_eq!(offsets(log).await, (0..8).collect::<Vec<i64>>());
            compact(log).await.unwrap();
            assert_eq!(offsets(log).await, [7]);
        });
    }
}

/// Retention empties a log whose turn comes when a long pass over another has failed.
#[test]
fn a_log_is_looked_at_again_when_its_turn_comes() {
    run(|node| async move {
        let opened = Rc::new(open(config()).await);
        let dir = &opened.dir;
        let mut logs = vec![opened.log.clone()];
        for id in 1..4 {
            let of = storage::TopicPartition::new("other", i32::from(id));
            logs.push(dir.create_log(of, protocol::types::Uuid([id; 16]), config()).await.unwrap());
        }
        for log in &logs {
            segments(log, &["aaaaaaaa", "bbbbbbbb", "abab"]).await;
            // The last of a segment: all before is read first.
            let path = format!("/data/{}/00000000000000000016.log", log.partition());
            node.disk().corrupt(path, 90, 1).unwrap();
        }
        let slow = CleanerConfig { bytes_per_second: 200.0, ..CleanerConfig::default() };
        let passing = opened.clone();
        let pass =
            rt::spawn(
                async move { passing.dir.compact_dirtiest(slow, |log| Some(log.durable_offset())).await },
            );
        rt::sleep(Duration::from_secs(1)).await;
        for log in &logs {
            log.set_config(LogConfig { delete: true, retention_bytes: Some(0), ..config() });
            log.retain(log.end_offset(), rt::unix_ms()).await.unwrap();
        }
        assert_eq!(pass.await, None);
        for log in &logs {
            assert_eq!(log.uncleanable(), None, "{}", log.partition());
        }
    });
}

#[test]
fn a_pass_without_room_reads_nothing() {
    run(|node| async move {
        let opened = open(config()).await;
        let log = &opened.log;
        segments(log, &["aaaa", "aaaa"]).await;
        node.disk().set_capacity(Some(1));
        let full = log.compact(CleanerConfig::default(), log.durable_offset()).await;
        assert!(matches!(full, Err(CompactionError::NoSpace)), "{full:?}");
        assert_eq!(opened.dir.stats().compaction_read_bytes.get(), 0);
        node.disk().set_capacity(None);
        compact(log).await.unwrap();
    });
}

/// A name that a full disk refuses for good: the pass is given up, the log stays as it was, and a later pass is made. The
/// directory failed for it once.
#[test]
fn a_replacement_that_finds_no_space_is_taken_back() {
    // Names of the second segment that are given up, then the new segment's own.
    for path in ["08.log", "08.timeindex", ".index.swap", ".log.swap"] {
        let (sim, node) = Sim::with_node(1);
        let disk = node.disk();
        sim.block_on(&node, async move {
            let opened = open(config()).await;
            let log = &opened.log;
            segments(log, &["aaaaaaaa", "bbbbbbbb", "abab"]).await;
            append(log, "c").await;
            log.flush().await.unwrap();
            let before = offsets(log).await;
            // As long as a replacement waits, and no longer.
            disk.fail(FaultOp::Rename, path, 100);
            let full = log.compact(CleanerConfig::default(), log.durable_offset()).await;
            assert!(matches!(full, Err(CompactionError::NoSpace)), "{path}: {full:?}");
            assert_eq!((opened.dir.failure(), log.uncleanable(), log.segment_count()), (None, None, 4));
            assert_eq!(offsets(log).await, before, "{path}");
            let names = disk.names("/data/orders-0");
            let left =
                |name: &String| [".swap", ".cleaned", ".deleted"].iter().any(|ending| name.ends_with(ending));
            assert!(!names.iter().any(left), "{path}: {names:?}");
            opened.close().await;
            let opened = open(config()).await;
            assert_eq!((opened.clean, offsets(&opened.log).await), (true, before), "{path}");
            compact(&opened.log).await.unwrap();
            assert_eq!(offsets(&opened.log).await, [18, 19, 20], "{path}");
        });
    }
}

/// What is compressed anew may be larger than it was: the group ends before the segment that doesn't fit any more, and that
/// begins the next. It was taken for damage once.
#[test]
fn a_group_that_outgrows_a_segment_becomes_several() {
    run(|node| async move {
        let opened = open(config()).await;
        let log = &opened.log;
        segments(log, &["abc", "dea", "fga", "hia", "a"]).await;
        // Room for two batches, not for three.
        let small = CleanerConfig { segment_bytes_max: 600, ..CleanerConfig::default() };
        let done = log.compact(small, log.durable_offset()).await.unwrap().unwrap();
        assert_eq!((done.upto, done.removed_records), (Offset(13), 4));
        assert_eq!(offsets(log).await, [1, 2, 3, 4, 6, 7, 9, 10, 12]);
        let names = node.disk().names("/data/orders-0");
        let sizes: Vec<usize> = names
            .iter()
            .filter(|name| name.ends_with(".log"))
            .map(|name| node.disk().read_file(format!("/data/orders-0/{name}")).unwrap().len())
            .collect();
        assert!(sizes.len() == 3 && sizes.iter().all(|size| *size <= 600), "{sizes:?}");
        let tiny = CleanerConfig { segment_bytes_max: 60, ..CleanerConfig::default() };
        segments(log, &["abc", "abc"]).await;
        let too_large = log.compact(tiny, log.durable_offset()).await;
        assert!(matches!(too_large, Err(CompactionError::Uncleanable(_))), "{too_large:?}");
    });
}

/// Made a part of what stays, a segment that was to go would stay.
#[test]
fn segments_below_the_start_are_left_to_retention() {
    run(|node| async move {
        let opened = open(config()).await;
        let log = &opened.log;
        segments(log, &["aaaa", "bbbb", "abab", "cc"]).await;
        log.advance_start_offset(Offset(9)).await.unwrap();
        let done = compact(log).await.unwrap();
        assert_eq!((done.upto, done.removed_records), (Offset(14), 2 + 1), "{done:?}");
        let files = || -> Vec<String> {
            let names = node.disk().names("/data/orders-0").into_iter();
            names.filter(|name| name.ends_with(".log")).map(|name| name[18..20].to_owned()).collect()
        };
        assert_eq!(files(), ["00", "04", "08"]);
        log.retain(log.end_offset(), rt::unix_ms()).await.unwrap();
        assert_eq!(files(), ["08"]);
        assert_eq!(offsets(log).await, [10, 11, 13]);
    });
}

/// A start in the midst of a pass has the same effect as one before it.
#[test]
fn a_start_that_moves_during_a_pass_keeps_segments_out_of_it() {
    run(|node| async move {
        let opened = open(config()).await;
        let log = opened.log.clone();
        segments(&log, &["aaaa", "bbbb", "abab"]).await;
        let slow = CleanerConfig { bytes_per_second: 500.0, ..CleanerConfig::default() };
        let passing = log.clone();
        let pass = rt::spawn(async move { passing.compact(slow, passing.durable_offset()).await });
        rt::sleep(Duration::from_secs(3)).await;
        log.advance_start_offset(Offset(5)).await.unwrap();
        let done = pass.await;
        assert!(matches!(done, Err(CompactionError::CalledOff) | Ok(Some(_))), "{done:?}");
        log.retain(log.end_offset(), rt::unix_ms()).await.unwrap();
        let names = node.disk().names("/data/orders-0");
        assert!(!names.contains(&"00000000000000000000.log".into()), "{names:?}");
    });
}

/// What goes by the age of files goes by when the records came, also after a start. They counted as new once.
#[test]
fn a_compacted_segment_is_as_old_as_the_newest_it_is_made_of() {
    run(|node| async move {
        let opened = open(config()).await;
        let modified_ms = async || {
            let entries = rt::fs::read_dir("/data/orders-0").await.unwrap();
            let of = |base: &str| {
                entries.iter().find(|entry| entry.name.ends_with(base)).map(|entry| entry.modified_ms)
            };
            (of("00.log"), of("04.log"))
        };
        segments(&opened.log, &["aaaa"]).await;
        rt::sleep(Duration::from_secs(100)).await;
        segments(&opened.log, &["ab"]).await;
        let (_, newest) = modified_ms().await;
        rt::sleep(Duration::from_secs(100)).await;
        compact(&opened.log).await.unwrap();
        let (merged, gone) = modified_ms().await;
        assert!(merged.unwrap().abs_diff(newest.unwrap()) < 5_000, "{merged:?} instead of {newest:?}");
        assert_eq!(gone, None, "{:?}", node.disk().names("/data/orders-0"));
    });
}

/// What there is no room to rewrite isn't read either. All of it was mapped first, at each look anew.
#[test]
fn a_pass_ends_before_what_there_is_no_room_for() {
    run(|node| async move {
        let small = LogConfig { segment_bytes: 28_000, ..config() };
        let opened = open(small).await;
        let log = &opened.log;
        segments(log, &["aaaa", "aaaa", &"b".repeat(250), "cc"]).await;
        let room_for = |bytes: u64| {
            node.disk().set_capacity(Some(1 << 30));
            let used = (1 << 30) - node.disk().free_bytes();
            node.disk().set_capacity(Some((used + bytes) * 50 / 49 + 1));
        };
        room_for(20_000);
        let done = compact(log).await.unwrap();
        assert_eq!((done.upto, done.is_partial), (Offset(8), true), "the first two fit");
        let read_bytes = opened.dir.stats().compaction_read_bytes.get();
        room_for(20_000);
        for _ in 0..2 {
            let full = log.compact(CleanerConfig::default(), log.durable_offset()).await;
            assert!(matches!(full, Err(CompactionError::NoSpace)), "{full:?}");
        }
        assert_eq!(opened.dir.stats().compaction_read_bytes.get(), read_bytes);
        node.disk().set_capacity(None);
        assert_eq!(compact(log).await.unwrap().upto, Offset(260));
    });
}

/// A pass kept to the rate that it began with, for hours if need be.
#[test]
fn a_changed_rate_acts_on_the_pass_that_is_under_way() {
    run(|_| async move {
        let opened = open(config()).await;
        let log = opened.log.clone();
        segments(&log, &["aaaaaaaa", "bbbbbbbb", "abab"]).await;
        let slow = CleanerConfig { bytes_per_second: 1.0, ..CleanerConfig::default() };
        let passing = log.clone();
        let pass = rt::spawn(async move { passing.compact(slow, passing.durable_offset()).await });
        rt::sleep(Duration::from_secs(60)).await;
        let before = rt::now();
        opened.dir.limit_compaction(f64::MAX);
        pass.await.unwrap().unwrap();
        assert!(rt::now() - before < Duration::from_secs(1), "{:?}", rt::now() - before);
    });
}

/// What was read of the segments that stay is kept. All of the log was forgotten, once for each group.
#[test]
fn a_replacement_voids_what_was_read_of_its_segments_only() {
    run(|node| async move {
        // Each too large to be put together with another.
        let opened = open(LogConfig { segment_bytes: 600, ..config() }).await;
        let log = &opened.log;
        segments(log, &["abcd", "efgh", "efgh", "ijkl"]).await;
        let read = async |from| log.read(Offset(from), log.end_offset(), 400, true).await;
        for from in [0, 4, 8, 12] {
            read(from).await.unwrap();
        }
        assert_eq!(compact(log).await.unwrap().removed_records, 4);
        for base in ["00", "08", "12"] {
            node.disk().fail(FaultOp::Read, &format!("{base}.log"), u32::MAX);
        }
        for from in [0, 8, 12] {
            assert_eq!(read(from).await.unwrap().next_offset, Offset(from + 4), "from memory");
        }
        assert_eq!(read(4).await.unwrap().next_offset, Offset(8), "the new one");
    });
}

/// The map of keys counts while a pass runs, and not behind it.
#[test]
fn a_pass_counts_its_memory() {
    run(|_| async move {
        let opened = open(config()).await;
        let log = opened.log.clone();
        segments(&log, &["abcd", "abcd"]).await;
        let slow = CleanerConfig { map_bytes: 96, bytes_per_second: 500.0, ..CleanerConfig::default() };
        let pass = rt::spawn(async move { log.compact(slow, log.durable_offset()).await });
        rt::sleep(Duration::from_millis(500)).await;
        let memory = opened.dir.memory().compaction;
        assert_eq!((memory.used_bytes, memory.capacity_bytes), (96, 96), "four keys' worth");
        pass.await.unwrap().unwrap();
        assert_eq!(opened.dir.memory().compaction.used_bytes, 0);
    });
}
