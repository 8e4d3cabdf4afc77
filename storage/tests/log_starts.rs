//! Where a log starts that can't be opened: `log-start-offset-checkpoint` alone may say it, and goes at the first start.
#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

mod common;

use common::{append, batch, open, partition};
use protocol::types::Uuid;
use rt::sim::{Crash, FaultOp, Node, Sim};
use storage::{DirHome, HomeConfig, Log, LogConfig, LogDir, LogDirConfig, Offset, Offsets, StorageError};

const STARTS: &str = "/data/log-start-offset-checkpoint";

/// A directory that another broker stopped: records up to 50, deleted up to 20.
fn stopped(seed: u64) -> (Sim, Node) {
    let (sim, node) = Sim::with_node(seed);
    sim.block_on(&node, async {
        let opened = open("/data", LogConfig::default(), LogDirConfig::default()).await;
        for tag in 0..50 {
            append(&opened.log, batch(tag, 1, 100, 5), 0).await;
        }
        opened.close().await;
        rt::fs::remove_file("/data/orders-0/ringlog-checkpoint").await.unwrap();
    });
    node.disk().put_file(STARTS, "0\n1\norders 0 20\n").unwrap();
    node.crash(Crash::Kill);
    (sim, node)
}

/// A start at which the log may be opened or not, and whose stop is clean or none.
async fn start(is_opened: bool, stop: bool) -> Result<Option<Log>, StorageError> {
    let (home, facts) = DirHome::open("/data", HomeConfig { node_id: 1, cluster_id: None }).await?;
    let dir = LogDir::open("/data", facts, LogDirConfig::default()).await?;
    let opened = dir.ensure_log(partition(), Uuid([3; 16]), LogConfig::default()).await;
    assert_eq!(opened.is_ok(), is_opened);
    home.begin_use().await?;
    if stop {
        let closed = dir.close().await;
        home.close(&[closed], &Offsets::new(), 1).await?;
        return Ok(None);
    }
    std::mem::forget((home, dir));
    Ok(opened.ok())
}

fn check(sim: &Sim, node: &Node) {
    sim.block_on(node, async {
        let log = start(true, false).await.unwrap().unwrap();
        assert_eq!((log.start_offset(), log.end_offset()), (Offset(20), Offset(50)));
    });
}

#[test]
fn a_log_that_can_t_be_opened_once_starts_where_it_did() {
    for (seed, stop) in [true, false].into_iter().enumerate() {
        let (sim, node) = stopped(seed as u64);
        // Its segment can't be read: its own file can be written.
        node.disk().fail(FaultOp::Read, "orders-0/partition.metadata", 1);
        sim.block_on(&node, async move { start(false, stop).await.unwrap() });
        node.crash(Crash::PowerCut);
        node.disk().clear_faults();
        check(&sim, &node);
    }
}

#[test]
fn it_does_when_its_directory_can_t_be_written_either() {
    for (seed, stop) in [true, false].into_iter().enumerate() {
        let (sim, node) = stopped(seed as u64);
        for _ in 0..2 {
            node.disk().fail(FaultOp::Read, "orders-0/partition.metadata", u32::MAX);
            node.disk().fail(FaultOp::Rename, "orders-0/ringlog-checkpoint", u32::MAX);
            sim.block_on(&node, async move { start(false, stop).await.unwrap() });
            if stop {
                let starts = node.disk().read_file(STARTS).unwrap();
                assert_eq!(starts, "0\n1\norders 0 20\n", "for Kafka too");
            }
            node.crash(Crash::PowerCut);
            node.disk().clear_faults();
        }
        check(&sim, &node);
    }
}

/// What is kept by name says nothing of a later topic of that name.
#[test]
fn a_topic_made_again_meanwhile_starts_at_its_own_start() {
    let (sim, node) = stopped(3);
    let disk = node.disk();
    sim.block_on(&node, async move {
        disk.fail(FaultOp::Rename, "orders-0/ringlog-checkpoint", u32::MAX);
        disk.fail(FaultOp::Read, "orders-0/partition.metadata", 1);
        let (home, facts) =
            DirHome::open("/data", HomeConfig { node_id: 1, cluster_id: None }).await.unwrap();
        let dir = LogDir::open("/data", facts, LogDirConfig::default()).await.unwrap();
        assert!(dir.ensure_log(partition(), Uuid([3; 16]), LogConfig::default()).await.is_err());
        home.begin_use().await.unwrap();
        disk.clear_faults();
        dir.delete_log_of(&partition(), Uuid([3; 16])).await.unwrap();
        let again = dir.create_log(partition(), Uuid([4; 16]), LogConfig::default()).await.unwrap();
        for tag in 0..30 {
            append(&again, batch(tag, 1, 100, 5), 0).await;
        }
        again.flush().await.unwrap();
        std::mem::forget((home, dir));
    });
    node.crash(Crash::PowerCut);
    sim.block_on(&node, async {
        let (_home, facts) =
            DirHome::open("/data", HomeConfig { node_id: 1, cluster_id: None }).await.unwrap();
        let dir = LogDir::open("/data", facts, LogDirConfig::default()).await.unwrap();
        let log = dir.ensure_log(partition(), Uuid([4; 16]), LogConfig::default()).await.unwrap();
        assert_eq!((log.start_offset(), log.end_offset()), (Offset(0), Offset(30)));
    });
}
