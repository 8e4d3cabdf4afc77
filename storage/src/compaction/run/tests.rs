use protocol::records::{BatchBuilder, RecordBatch};
use protocol::types::Uuid;
use rt::sim::Sim;

use super::Pass;
use crate::{
    CleanerConfig, CompactionConfig, CompactionError, DirHome, HomeConfig, LeaderEpoch, Log, LogConfig,
    LogDir, LogDirConfig, TopicPartition,
};

/// Never due by how much is dirty, so that the ages are looked at.
fn config() -> LogConfig {
    let compaction =
        CompactionConfig { min_cleanable_ratio: 1.0, max_lag_ms: 3_600_000, ..CompactionConfig::default() };
    LogConfig { compaction: Some(compaction), ..LogConfig::default() }
}

/// A log of two closed segments.
async fn two_segments() -> (DirHome, LogDir, Log) {
    let (home, facts) = DirHome::open("/data", HomeConfig { node_id: 1, cluster_id: None }).await.unwrap();
    let dir = LogDir::open("/data", facts, LogDirConfig::default()).await.unwrap();
    let log = dir.create_log(TopicPartition::new("orders", 0), Uuid([3; 16]), config()).await.unwrap();
    home.begin_use().await.unwrap();
    for _ in 0..2 {
        let mut batch = BatchBuilder::new();
        batch.push(rt::unix_ms(), Some(b"key"), Some(b"value"), &[]);
        let batch = RecordBatch::parse(batch.build().unwrap()).unwrap();
        let reservation = log.reserve_batch(&batch).await.unwrap();
        log.append(reservation, batch, LeaderEpoch(0), rt::unix_ms()).unwrap();
        log.roll().await.unwrap();
    }
    log.wait_synced(log.end_offset()).await.unwrap();
    (home, dir, log)
}

async fn empty(log: &Log) {
    log.set_config(LogConfig { delete: true, retention_bytes: Some(0), ..config() });
    log.retain(log.end_offset(), rt::unix_ms()).await.unwrap();
    assert_eq!(log.start_offset(), log.end_offset());
}

#[test]
fn what_was_looked_up_of_a_segment_goes_with_it() {
    let (sim, node) = Sim::with_node(1);
    sim.block_on(&node, async {
        let (_home, dir, log) = two_segments().await;
        let looked = dir.compact_dirtiest(CleanerConfig::default(), |log| Some(log.durable_offset())).await;
        assert_eq!(looked, None);
        let known = || log.0.compaction.first_timestamps.borrow().len();
        assert_eq!(known(), 2);
        empty(&log).await;
        assert_eq!(known(), 0);
    });
}

#[test]
fn a_pass_whose_dirty_part_retention_took_is_called_off() {
    let (sim, node) = Sim::with_node(1);
    sim.block_on(&node, async {
        let (_home, _dir, log) = two_segments().await;
        let (_, plan) = log.plan(log.durable_offset()).await.unwrap();
        empty(&log).await;
        let done = Pass::new(log.0.clone(), plan, CleanerConfig::default()).run().await;
        assert!(matches!(done, Err(CompactionError::CalledOff)), "{done:?}");
    });
}
