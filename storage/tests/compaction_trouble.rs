//! Compaction beside retention.
#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

mod common;
mod keyed;

use std::time::Duration;

use keyed::{close_segment, offsets};
use protocol::records::{BatchBuilder, RecordBatch};
use rt::sim::{Latency, Sim};
use storage::{CleanerConfig, CompactionError, Log, LogConfig, LogDirConfig, Offset};

const HOUR_MS: i64 = 3_600_000;

fn config() -> LogConfig {
    LogConfig { segment_bytes: 20_000, tail_bytes_max: 0, ..keyed::config(0) }
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
