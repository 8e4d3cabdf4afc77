//! A disk that fills up: when writes are refused, and what the ballast is for.
#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

mod common;

use std::time::Duration;

use common::{Open, append, batch, partition, read_all};
use rt::sim::{DiskControl, Sim};
use storage::{DirHome, HomeConfig, LogConfig, LogDir, LogDirConfig, Offset};

const BALLAST_BYTES: u64 = 4 << 20;

/// A directory whose ballast is made, and its log.
async fn open(full_percent: u64) -> Open {
    let (home, facts) = DirHome::open("/data", HomeConfig { node_id: 1, cluster_id: None }).await.unwrap();
    home.make_ballast(BALLAST_BYTES).await.unwrap();
    let config = LogDirConfig {
        full_percent,
        ballast_bytes: BALLAST_BYTES,
        keeps_ballast: true,
        ..LogDirConfig::default()
    };
    let clean = facts.clean;
    let dir = LogDir::open("/data", facts, config).await.unwrap();
    let small = LogConfig {
        segment_bytes: 5_000,
        index_interval_bytes: 1_000,
        retention_ms: None,
        file_delete_delay_ms: 3_600_000,
        ..LogConfig::default()
    };
    let log = dir.ensure_log(partition(), protocol::types::Uuid([3; 16]), small).await.unwrap();
    home.begin_use().await.unwrap();
    Open { home, dir, log, clean }
}

/// Makes the disk so large that so many bytes are free.
fn leave(disk: &DiskControl, free_bytes: u64) {
    const MUCH: u64 = 1 << 40;
    disk.set_capacity(Some(MUCH));
    disk.set_capacity(Some(MUCH - disk.free_bytes() + free_bytes));
}

fn has_ballast(disk: &DiskControl) -> bool {
    disk.names("/data").contains(&"ringlog-ballast".to_owned())
}

async fn append_some(opened: &Open, count: u64) {
    for tag in 0..count {
        append(&opened.log, batch(tag, 1, 1_000, 5), 0).await;
    }
    opened.log.wait_synced(opened.log.end_offset()).await.unwrap();
}

async fn a_look() {
    rt::sleep(Duration::from_millis(1_100)).await;
}

#[test]
fn producers_are_refused_from_the_percentage_on_until_there_is_room() {
    let (sim, node) = Sim::with_node(9);
    let disk = node.disk();
    sim.block_on(&node, async move {
        let opened = open(60).await;
        append_some(&opened, 10).await;
        // The ballast, the journal and little else.
        leave(&disk, 1 << 40);
        a_look().await;
        assert!(!opened.log.refuses_writes());
        leave(&disk, 2 << 20);
        a_look().await;
        assert!(opened.log.refuses_writes() && opened.dir.room().refuses_writes);
        assert!(has_ballast(&disk), "it isn't empty yet");
        // The node's own, reads and retention go on.
        append_some(&opened, 4).await;
        assert_eq!(read_all(&opened.log, Offset(0), 10_000).await.len(), 14);
        opened.log.set_config(LogConfig { retention_ms: Some(1), ..(*opened.log.config()).clone() });
        opened.log.retain(Offset(8), rt::unix_ms()).await.unwrap();
        assert_eq!((opened.log.start_offset(), opened.dir.failure()), (Offset(8), None));
        rt::sleep(Duration::from_secs(1)).await;
        let doomed = disk.names("/data/orders-0").into_iter().filter(|name| name.ends_with(".deleted"));
        assert_eq!(doomed.count(), 0, "on a full disk they don't wait for file.delete.delay.ms");
        leave(&disk, 1 << 40);
        a_look().await;
        assert!(!opened.log.refuses_writes());
        opened.close().await;
    });
}

#[test]
fn the_ballast_goes_when_nothing_is_free_and_comes_back() {
    let (sim, node) = Sim::with_node(9);
    let disk = node.disk();
    sim.block_on(&node, async move {
        let opened = open(100).await;
        assert!(has_ballast(&disk) && !opened.log.refuses_writes());
        append_some(&opened, 10).await;
        leave(&disk, 0);
        a_look().await;
        assert!(opened.log.refuses_writes());
        a_look().await;
        assert!(has_ballast(&disk), "other shards may not have looked yet");
        a_look().await;
        assert_eq!((has_ballast(&disk), disk.free_bytes()), (false, BALLAST_BYTES));
        a_look().await;
        assert!(opened.log.refuses_writes(), "what it gave isn't for producers");
        opened.log.checkpoint().await.unwrap();
        // Not enough for it and for what it is to be given up for.
        leave(&disk, 2 * BALLAST_BYTES);
        a_look().await;
        assert!(!has_ballast(&disk) && opened.log.refuses_writes());
        leave(&disk, 3 * BALLAST_BYTES);
        a_look().await;
        assert!(has_ballast(&disk) && !opened.log.refuses_writes());
        opened.close().await;
        assert!(has_ballast(&disk));
    });
}

#[test]
fn retention_takes_the_ballast_when_it_needs_it() {
    let (sim, node) = Sim::with_node(9);
    let disk = node.disk();
    sim.block_on(&node, async move {
        let opened = open(100).await;
        append_some(&opened, 10).await;
        rt::sleep(Duration::from_millis(100)).await;
        opened.log.set_config(LogConfig { retention_ms: Some(1), ..(*opened.log.config()).clone() });
        leave(&disk, 0);
        opened.log.retain(Offset(9), rt::unix_ms()).await.unwrap();
        assert_eq!((opened.log.start_offset(), has_ballast(&disk)), (Offset(8), false));
        assert_eq!((opened.dir.failure(), opened.log.refuses_writes()), (None, true));
        opened.close().await;
    });
}

#[test]
fn a_size_of_none_removes_it_and_without_space_it_comes_later() {
    let (sim, node) = Sim::with_node(9);
    let disk = node.disk();
    sim.block_on(&node, async move {
        let (home, _) = DirHome::open("/data", HomeConfig { node_id: 1, cluster_id: None }).await.unwrap();
        home.make_ballast(BALLAST_BYTES).await.unwrap();
        home.make_ballast(0).await.unwrap();
        assert!(!has_ballast(&disk));
        leave(&disk, 64 << 10);
        home.make_ballast(BALLAST_BYTES).await.unwrap();
        assert!(!has_ballast(&disk));
        let left = disk.names("/data").into_iter().filter(|name| name.contains("ballast"));
        assert_eq!(left.count(), 0, "not even a part of it");
    });
}
