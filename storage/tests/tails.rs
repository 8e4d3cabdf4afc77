//! Whose latest records stay in memory when not all can.
#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

mod common;

use common::{append, batch, open, read_all};
use protocol::types::Uuid;
use rt::sim::{FaultOp, Sim};
use storage::{LogConfig, LogDirConfig, Offset, TopicPartition};

#[test]
fn a_busy_log_doesnt_take_a_quiet_ones_latest_records() {
    let (sim, node) = Sim::with_node(11);
    let disk = node.disk();
    sim.block_on(&node, async move {
        let dir_config = LogDirConfig { tail_bytes_max: 100_000, ..LogDirConfig::default() };
        let opened = open("/data", LogConfig::default(), dir_config).await;
        let quiet = TopicPartition::new("quiet", 0);
        let quiet = opened.dir.create_log(quiet, Uuid([9; 16]), LogConfig::default()).await.unwrap();
        for tag in 0..30 {
            append(&quiet, batch(tag, 1, 1_000, 0), 0).await;
        }
        quiet.wait_synced(Offset(30)).await.unwrap();
        for tag in 0..500 {
            append(&opened.log, batch(tag, 1, 1_000, 0), 0).await;
            opened.log.wait_synced(Offset(tag as i64 + 1)).await.unwrap();
        }
        let tail = opened.dir.memory().tail;
        assert!(tail.used_bytes <= tail.capacity_bytes + 10_000, "a block stays pinned: {tail:?}");
        assert!(tail.used_bytes >= tail.capacity_bytes - 10_000, "what there is is used: {tail:?}");

        // Nothing can be read from files, so what is answered comes from memory.
        disk.fail(FaultOp::Read, ".log", u32::MAX);
        assert_eq!(read_all(&quiet, Offset::ZERO, 1 << 20).await.len(), 30);
        assert_eq!(read_all(&opened.log, Offset(470), 1 << 20).await.len(), 30);
        assert!(
            opened.log.read(Offset(300), Offset(500), 5_000, true).await.is_err(),
            "the busy log's old ones"
        );
    });
}

#[test]
fn many_quiet_logs_dont_hide_the_busy_one() {
    let (sim, node) = Sim::with_node(12);
    sim.block_on(&node, async move {
        let dir_config = LogDirConfig { tail_bytes_max: 300_000, ..LogDirConfig::default() };
        let opened = open("/data", LogConfig::default(), dir_config).await;
        let mut quiet = Vec::new();
        for at in 0..100 {
            let name = TopicPartition::new("quiet", at);
            let log = opened.dir.create_log(name, Uuid([9; 16]), LogConfig::default()).await.unwrap();
            append(&log, batch(1, 1, 100, 0), 0).await;
            quiet.push(log);
        }
        for tag in 0..100 {
            append(&opened.log, batch(tag, 1, 50_000, 0), 0).await;
            opened.log.wait_synced(Offset(tag as i64 + 1)).await.unwrap();
            let tail = opened.dir.memory().tail;
            assert!(tail.used_bytes <= tail.capacity_bytes + 110_000, "after {tag}: {tail:?}");
        }
    });
}
