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
