//! A full disk refuses writes; it never takes the directory offline, and nothing has to be restarted.
#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

mod common;

use std::time::Duration;

use common::{append, batch, open, read_all};
use rt::sim::{Crash, DiskControl, Sim};
use storage::{AppendError, LeaderEpoch, Log, LogConfig, LogDirConfig, LogStatus, Offset, StorageError};

fn small() -> LogConfig {
    LogConfig { segment_bytes: 40_000, index_interval_bytes: 1_000, ..LogConfig::default() }
}

/// Leaves not one byte.
fn fill(disk: &DiskControl) {
    disk.set_capacity(Some(0));
}

async fn append_some(log: &Log, count: u64) {
    for tag in 0..count {
        append(log, batch(tag, 1, 1_000, 5), 0).await;
    }
    log.wait_synced(log.end_offset()).await.unwrap();
}

#[test]
fn a_checkpoint_is_written_when_there_is_space_again() {
    let (sim, node) = Sim::with_node(3);
    let disk = node.disk();
    sim.block_on(&node, async move {
        let opened = open("/data", small(), LogDirConfig::default()).await;
        append_some(&opened.log, 5).await;
        fill(&disk);
        assert!(matches!(opened.log.checkpoint().await, Err(StorageError::NoSpace)));
        assert!(matches!(opened.dir.checkpoint().await, Err(StorageError::NoSpace)));
        assert_eq!((opened.dir.failure(), opened.log.status()), (None, LogStatus::Online));
        assert_eq!(read_all(&opened.log, Offset(0), 10_000).await.len(), 5);
        disk.set_capacity(None);
        opened.log.checkpoint().await.unwrap();
        append_some(&opened.log, 5).await;
        opened.close().await;
    });
}

#[test]
fn index_files_are_written_when_there_is_space_again() {
    let (sim, node) = Sim::with_node(3);
    let disk = node.disk();
    sim.block_on(&node, async move {
        let opened = open("/data", small(), LogDirConfig::default()).await;
        append_some(&opened.log, 5).await;
        fill(&disk);
        // Nothing is reserved, so the roll makes no file; the old segment's index finds no space.
        opened.log.roll().await.unwrap();
        rt::sleep(Duration::from_secs(1)).await;
        assert_eq!((opened.dir.failure(), opened.log.segment_count()), (None, 2));
        assert!(!disk.names("/data/orders-0").contains(&"00000000000000000000.index".to_owned()));
        assert!(matches!(opened.log.reserve(100).await, Err(StorageError::NoSpace)));
        disk.set_capacity(None);
        opened.log.checkpoint().await.unwrap();
        assert!(disk.names("/data/orders-0").contains(&"00000000000000000000.index".to_owned()));
        append_some(&opened.log, 5).await;
        opened.close().await;
    });
}

#[test]
fn cuts_on_a_full_disk_leave_the_log_in_use() {
    let (sim, node) = Sim::with_node(3);
    let disk = node.disk();
    sim.block_on(&node, async move {
        let opened = open("/data", small(), LogDirConfig::default()).await;
        append_some(&opened.log, 60).await;
        opened.log.checkpoint().await.unwrap();
        fill(&disk);
        // Below the recovery point, which can't be lowered: refused, and nothing is changed.
        assert!(matches!(opened.log.truncate_to(Offset(50)).await, Err(StorageError::NoSpace)));
        assert!(matches!(
            opened.log.truncate_fully_and_start_at(Offset(90)).await,
            Err(StorageError::NoSpace)
        ));
        assert!(matches!(opened.log.advance_start_offset(Offset(3)).await, Err(StorageError::NoSpace)));
        assert_eq!((opened.log.start_offset(), opened.log.end_offset()), (Offset(0), Offset(60)));
        disk.set_capacity(None);
        append_some(&opened.log, 3).await;
        fill(&disk);
        // Above it: only the epochs' file finds no space, which can wait.
        opened.log.truncate_to(Offset(61)).await.unwrap();
        assert_eq!((opened.dir.failure(), opened.log.end_offset()), (None, Offset(61)));
        disk.set_capacity(None);
        append_some(&opened.log, 3).await;
        assert_eq!(read_all(&opened.log, Offset(0), 10_000).await.len(), 64);
        opened.close().await;
    });
}

#[test]
fn a_clean_stop_without_space_is_none_but_loses_nothing() {
    let (sim, node) = Sim::with_node(3);
    let disk = node.disk();
    sim.block_on(&node, async move {
        let opened = open("/data", small(), LogDirConfig::default()).await;
        append_some(&opened.log, 5).await;
        fill(&disk);
        let closed = opened.dir.close().await;
        assert!(!closed.clean && opened.dir.failure().is_none());
    });
    node.crash(Crash::PowerCut);
    node.disk().set_capacity(None);
    sim.block_on(&node, async {
        let opened = open("/data", small(), LogDirConfig::default()).await;
        assert_eq!((opened.clean, opened.log.end_offset()), (false, Offset(5)));
    });
}

#[test]
fn a_reservation_that_outlives_a_roll_has_its_space_in_the_next_segment() {
    let (sim, node) = Sim::with_node(3);
    let disk = node.disk();
    sim.block_on(&node, async move {
        let opened = open("/data", small(), LogDirConfig::default()).await;
        let log = opened.log.clone();
        append_some(&log, 5).await;
        let made = batch(5, 1, 20_000, 5);
        let held = log.reserve(made.total_bytes()).await.unwrap();
        fill(&disk);
        // Its space can't be had in the next segment: so there is none.
        assert!(matches!(log.roll().await, Err(StorageError::NoSpace)));
        assert_eq!((log.segment_count(), opened.dir.failure()), (1, None));
        disk.set_capacity(None);
        log.roll().await.unwrap();
        assert_eq!(log.segment_count(), 2);
        fill(&disk);
        let info = log.append(held, made, LeaderEpoch(0), 5).unwrap();
        let acked = rt::timeout(Duration::from_secs(5), log.wait_synced(info.last_offset.plus(1))).await;
        acked.expect("it was admitted, so it has space").unwrap();
        assert_eq!(read_all(&log, Offset(0), 100_000).await.len(), 6);
        assert!(!disk.names("/data/orders-0").contains(&"ringlog-next.tmp".to_owned()));
    });
    node.crash(Crash::PowerCut);
    node.disk().set_capacity(None);
    sim.block_on(&node, async {
        let opened = open("/data", small(), LogDirConfig::default()).await;
        assert_eq!(opened.log.end_offset(), Offset(6));
        let made = batch(6, 1, 100, 5);
        let held = opened.log.reserve(made.total_bytes()).await.unwrap();
        opened.dir.delete_log(&common::partition()).await.unwrap();
        assert_eq!(opened.log.append(held, made, LeaderEpoch(0), 5), Err(AppendError::Offline));
    });
}
