//! Partition directories that come and go: topics made again, creations cut short, logs that can't be opened.
#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

mod common;

use common::{append, batch, open, partition, read_all};
use protocol::types::Uuid;
use rt::sim::{Crash, FaultOp, Node, Sim};
use storage::{
    DirHome, HomeConfig, LogConfig, LogDir, LogDirConfig, LogStatus, Offset, Offsets, ReadError, StorageError,
};

const OURS: Uuid = Uuid([3; 16]);
const OTHER: Uuid = Uuid([9; 16]);
const METADATA: &str = "/data/orders-0/partition.metadata";

/// A log of the topic [`OURS`] with `count` records, left by a kill.
fn with_records(sim: &Sim, node: &Node, count: i64) {
    sim.block_on(node, async move {
        let opened = open("/data", LogConfig::default(), LogDirConfig::default()).await;
        for tag in 0..count {
            append(&opened.log, batch(tag as u64, 1, 100, 5), 0).await;
        }
        opened.log.wait_synced(Offset(count)).await.unwrap();
    });
    node.crash(Crash::Kill);
}

async fn dir() -> (DirHome, LogDir) {
    let (home, facts) = DirHome::open("/data", HomeConfig { node_id: 1, cluster_id: None }).await.unwrap();
    let dir = LogDir::open("/data", facts, LogDirConfig::default()).await.unwrap();
    (home, dir)
}

#[test]
fn a_log_that_does_not_tell_its_topic_is_kept_offline() {
    for damage in [None, Some("version: 0\ntopic_id: ?\n"), Some("version: 7\n"), Some("\u{0}\u{0}\u{0}")] {
        let (sim, node) = Sim::with_node(3);
        with_records(&sim, &node, 7);
        let disk = node.disk();
        let log_file = "/data/orders-0/00000000000000000000.log";
        let before = disk.read_file(log_file).unwrap();
        sim.block_on(&node, async move {
            match damage {
                None => rt::fs::remove_file(METADATA).await.unwrap(),
                Some(text) => disk.put_file(METADATA, text.as_bytes().to_vec()).unwrap(),
            }
            let (_home, dir) = dir().await;
            let log = dir.ensure_log(partition(), OURS, LogConfig::default()).await.unwrap();
            assert!(matches!(log.status(), LogStatus::Corrupt(_)), "{damage:?}: {:?}", log.status());
            assert!(matches!(log.reserve(10).await, Err(StorageError::Offline)));
            assert!(matches!(log.read(Offset(0), Offset(7), 10, true).await, Err(ReadError::Offline)));
            assert!(!dir.close().await.clean, "the next start looks at it again");
        });
        let kept = node.disk().read_file(log_file).unwrap();
        let data = before.iter().rposition(|byte| *byte != 0).unwrap();
        assert_eq!(kept[..=data], before[..=data], "{damage:?}");
    }
}

#[test]
fn a_log_of_another_topic_is_set_aside_and_kept() {
    let (sim, node) = Sim::with_node(3);
    with_records(&sim, &node, 7);
    sim.block_on(&node, async {
        let (_home, dir) = dir().await;
        let log = dir.ensure_log(partition(), OTHER, LogConfig::default()).await.unwrap();
        assert_eq!((log.topic_id(), log.end_offset()), (OTHER, Offset(0)));
        append(&log, batch(1, 1, 100, 5), 0).await;
        log.wait_synced(Offset(1)).await.unwrap();
    });
    node.crash(Crash::PowerCut);
    let names = node.disk().names("/data");
    let stray = names.iter().find(|name| name.ends_with("-stray")).expect("kept");
    assert!(node.disk().names(format!("/data/{stray}")).contains(&"00000000000000000000.log".into()));
    sim.block_on(&node, async {
        let (_home, dir) = dir().await;
        let log = dir.ensure_log(partition(), OTHER, LogConfig::default()).await.unwrap();
        assert_eq!((log.status(), log.end_offset()), (LogStatus::Online, Offset(1)));
    });
}

#[test]
fn a_creation_cut_short_is_done_again() {
    for seed in 0..200 {
        let (sim, node) = Sim::with_node(seed);
        let making = node.spawn(async {
            let (_home, dir) = dir().await;
            drop(dir.ensure_log(partition(), OURS, LogConfig::default()).await);
            std::future::pending::<()>().await;
        });
        sim.run_steps(20 + sim.choose(60));
        node.crash(if sim.choose(2) == 0 { Crash::Kill } else { Crash::PowerCut });
        drop(making);
        sim.block_on(&node, async {
            let (_home, dir) = dir().await;
            let log = dir.ensure_log(partition(), OURS, LogConfig::default()).await.unwrap();
            assert_eq!((log.status(), log.topic_id()), (LogStatus::Online, OURS));
            append(&log, batch(1, 1, 100, 5), 0).await;
            log.wait_synced(Offset(1)).await.unwrap();
        });
    }
}

#[test]
fn a_creation_without_space_can_be_tried_again() {
    let (sim, node) = Sim::with_node(3);
    let disk = node.disk();
    sim.block_on(&node, async move {
        let (home, dir) = dir().await;
        disk.set_capacity(Some(0));
        for _ in 0..2 {
            let refused = dir.ensure_log(partition(), OURS, LogConfig::default()).await;
            assert!(matches!(refused, Err(StorageError::NoSpace)), "{refused:?}");
        }
        assert!(dir.failure().is_none());
        disk.set_capacity(None);
        let log = dir.ensure_log(partition(), OURS, LogConfig::default()).await.unwrap();
        append(&log, batch(1, 1, 100, 5), 0).await;
        let closed = dir.close().await;
        assert!(closed.clean);
        home.close(&[closed], &Offsets::new(), 1).await.unwrap();
    });
}

#[test]
fn a_creation_whose_sync_fails_takes_the_directory_offline() {
    let (sim, node) = Sim::with_node(3);
    let disk = node.disk();
    sim.block_on(&node, async move {
        let (_home, dir) = dir().await;
        disk.fail(FaultOp::Sync, "orders-0", 1);
        assert!(dir.ensure_log(partition(), OURS, LogConfig::default()).await.is_err());
        assert!(dir.failure().is_some());
    });
}

#[test]
fn a_stop_is_not_clean_while_a_log_could_not_be_opened_and_names_those_that_nobody_opened() {
    for fails in [true, false] {
        let (sim, node) = Sim::with_node(3);
        with_records(&sim, &node, 7);
        let disk = node.disk();
        sim.block_on(&node, async move {
            let (home, dir) = dir().await;
            if fails {
                disk.fail(FaultOp::Read, "orders-0", u32::MAX);
                let opened = dir.ensure_log(partition(), OURS, LogConfig::default()).await;
                assert!(matches!(opened, Err(StorageError::Io { .. })), "{opened:?}");
                disk.clear_faults();
            }
            home.begin_use().await.unwrap();
            let closed = dir.close().await;
            assert_eq!(closed.clean, !fails);
            home.close(&[closed], &Offsets::new(), 1).await.unwrap();
            let (_, facts) =
                DirHome::open("/data", HomeConfig { node_id: 1, cluster_id: None }).await.unwrap();
            assert_eq!((facts.clean, facts.unrecovered.contains(&partition())), (!fails, !fails));
        });
    }
}

#[test]
fn a_log_that_could_not_be_opened_can_be_later() {
    let (sim, node) = Sim::with_node(3);
    with_records(&sim, &node, 7);
    let disk = node.disk();
    sim.block_on(&node, async move {
        let (home, dir) = dir().await;
        disk.fail(FaultOp::Read, "orders-0", 1);
        assert!(dir.ensure_log(partition(), OURS, LogConfig::default()).await.is_err());
        let stand_in = dir.unavailable_log(partition(), OURS, LogConfig::default(), "EIO".into());
        assert!(stand_in.is_offline() && dir.log(&partition()).is_none());
        let log = dir.ensure_log(partition(), OURS, LogConfig::default()).await.unwrap();
        assert_eq!(read_all(&log, Offset(0), 1_000).await.len(), 7);
        let closed = dir.close().await;
        assert!(closed.clean);
        home.close(&[closed], &Offsets::new(), 1).await.unwrap();
    });
}

#[test]
fn a_log_is_opened_once_however_often_that_is_asked_for() {
    let (sim, node) = Sim::with_node(3);
    with_records(&sim, &node, 7);
    sim.block_on(&node, async {
        let (_home, dir) = dir().await;
        let dir = std::rc::Rc::new(dir);
        let open = || {
            let dir = dir.clone();
            rt::spawn(async move { dir.ensure_log(partition(), OURS, LogConfig::default()).await })
        };
        let (one, two) = (open(), open());
        let (one, two) = (one.await, two.await);
        // Which of them is polled first is the seed's.
        let (opened, refused) = if one.is_ok() { (one, two) } else { (two, one) };
        assert!(opened.is_ok() && matches!(refused, Err(StorageError::Exists(_))));
    });
}

#[test]
fn a_read_of_a_log_that_was_made_again_meanwhile_sees_nothing_of_it() {
    for seed in 0..100 {
        let (sim, node) = Sim::with_node(seed);
        sim.block_on(&node, async {
            let config = LogConfig { tail_bytes_max: 0, ..LogConfig::default() };
            let opened = open("/data", config.clone(), LogDirConfig::default()).await;
            for tag in 0..50 {
                append(&opened.log, batch(tag, 1, 1_000, 5), 0).await;
            }
            opened.log.wait_synced(Offset(50)).await.unwrap();
            let old = opened.log.clone();
            let reader = rt::spawn(async move { old.read(Offset(0), Offset(50), 4_000, true).await });
            rt::yield_point().await;
            opened.dir.delete_log(&partition()).await.unwrap();
            let again = opened.dir.create_log(partition(), OTHER, config).await.unwrap();
            for _ in 0..50 {
                append(&again, batch(7_777, 1, 1_000, 5), 0).await;
            }
            if let Ok(slice) = reader.await {
                assert_eq!(common::tag_of(&common::batches(slice)[0]), 0, "another log's records");
            }
        });
    }
}

#[test]
fn a_device_error_while_producers_are_read_back_is_no_end_of_them() {
    let (sim, node) = Sim::with_node(3);
    sim.block_on(&node, async {
        let opened = open("/data", LogConfig::default(), LogDirConfig::default()).await;
        for sequence in 0..9 {
            append(&opened.log, common::idempotent(1, 1, 100, 5, (4, 0, sequence)), 0).await;
        }
        opened.log.roll().await.unwrap();
        // The small files of the roll follow it.
        rt::sleep(std::time::Duration::from_secs(1)).await;
        append(&opened.log, common::idempotent(1, 1, 100, 5, (4, 0, 9)), 0).await;
        opened.log.wait_synced(Offset(10)).await.unwrap();
    });
    node.crash(Crash::Kill);
    let disk = node.disk();
    sim.block_on(&node, async move {
        // Without the snapshot the closed segment is read for them.
        rt::fs::remove_file("/data/orders-0/00000000000000000009.snapshot").await.unwrap();
        let (_home, dir) = dir().await;
        disk.fail(FaultOp::Read, "00000000000000000000.log", 1);
        let opened = dir.ensure_log(partition(), OURS, LogConfig::default()).await;
        assert!(matches!(opened, Err(StorageError::Io { .. })), "{opened:?}");
        let log = dir.ensure_log(partition(), OURS, LogConfig::default()).await.unwrap();
        assert_eq!(log.producer_count(), 1);
    });
}

#[test]
fn a_topic_made_again_does_not_start_where_the_old_one_did() {
    let (sim, node) = Sim::with_node(3);
    sim.block_on(&node, async {
        let opened = open("/data", LogConfig::default(), LogDirConfig::default()).await;
        for tag in 0..50 {
            append(&opened.log, batch(tag, 1, 100, 5), 0).await;
        }
        opened.log.advance_start_offset(Offset(40)).await.unwrap();
        opened.close().await;
        let opened = open("/data", LogConfig::default(), LogDirConfig::default()).await;
        assert_eq!(opened.log.start_offset(), Offset(40));
        opened.dir.delete_log(&partition()).await.unwrap();
        let again = opened.dir.create_log(partition(), OTHER, LogConfig::default()).await.unwrap();
        for tag in 0..50 {
            append(&again, batch(tag, 1, 100, 5), 0).await;
        }
        again.wait_synced(Offset(50)).await.unwrap();
    });
    node.crash(Crash::Kill);
    sim.block_on(&node, async {
        let opened = open("/data", LogConfig::default(), LogDirConfig::default()).await;
        assert_eq!((opened.log.start_offset(), opened.log.end_offset()), (Offset(0), Offset(50)));
    });
}

#[test]
fn a_start_that_only_kafkas_file_tells_outlives_a_crash() {
    let (sim, node) = Sim::with_node(3);
    sim.block_on(&node, async {
        let opened = open("/data", LogConfig::default(), LogDirConfig::default()).await;
        for tag in 0..50 {
            append(&opened.log, batch(tag, 1, 100, 5), 0).await;
        }
        opened.close().await;
    });
    node.crash(Crash::Kill);
    node.disk().put_file("/data/log-start-offset-checkpoint", "0\n1\norders 0 20\n").unwrap();
    for _ in 0..2 {
        sim.block_on(&node, async {
            let opened = open("/data", LogConfig::default(), LogDirConfig::default()).await;
            assert_eq!((opened.log.start_offset(), opened.log.end_offset()), (Offset(20), Offset(50)));
        });
        node.crash(Crash::PowerCut);
    }
}

#[test]
fn what_is_left_of_a_removed_segment_is_removed() {
    let (sim, node) = Sim::with_node(3);
    with_records(&sim, &node, 7);
    for suffix in ["index", "timeindex", "txnindex"] {
        node.disk().put_file(format!("/data/orders-0/00000000000000000005.{suffix}"), vec![0; 24]).unwrap();
    }
    node.disk().put_file("/data/orders-0/00000000000000000009.snapshot", vec![0; 10]).unwrap();
    sim.block_on(&node, async {
        let (_home, dir) = dir().await;
        let log = dir.ensure_log(partition(), OURS, LogConfig::default()).await.unwrap();
        assert_eq!(log.end_offset(), Offset(7));
    });
    let names = node.disk().names("/data/orders-0");
    let gone =
        |name: &String| name.starts_with("00000000000000000005") || name.starts_with("00000000000000000009");
    assert!(!names.iter().any(gone), "{names:?}");
}

#[test]
fn the_directorys_identity_outlives_a_first_start_cut_short() {
    for seed in 0..300 {
        let (sim, node) = Sim::with_node(seed);
        let starting = node.spawn(async { drop(dir().await) });
        sim.run_steps(sim.choose(40));
        node.crash(Crash::Kill);
        drop(starting);
        let id = sim.block_on(&node, async {
            let (_home, facts) =
                DirHome::open("/data", HomeConfig { node_id: 1, cluster_id: None }).await.unwrap();
            facts.directory_id
        });
        node.crash(Crash::PowerCut);
        sim.block_on(&node, async move {
            let (_home, facts) =
                DirHome::open("/data", HomeConfig { node_id: 1, cluster_id: None }).await.unwrap();
            assert_eq!(facts.directory_id, id);
        });
    }
}

#[test]
fn an_epoch_without_records_at_the_end_goes_with_a_cut_there() {
    let (sim, node) = Sim::with_node(3);
    sim.block_on(&node, async {
        let opened = open("/data", LogConfig::default(), LogDirConfig::default()).await;
        append(&opened.log, batch(0, 1, 100, 5), 1).await;
        opened.log.assign_epoch(storage::LeaderEpoch(4));
        opened.log.truncate_to(Offset(1)).await.unwrap();
        assert_eq!(opened.log.latest_epoch(), Some(storage::LeaderEpoch(1)));
    });
}

/// The state of a producer came back from a batch that was cut whole, for it held the log's start.
#[test]
fn a_batch_that_holds_the_start_is_forgotten_when_it_is_cut() {
    let (sim, node) = Sim::with_node(15_136);
    sim.block_on(&node, async {
        let opened = open("/data", LogConfig::default(), LogDirConfig::default()).await;
        append(&opened.log, common::idempotent(1, 4, 400, 5, (7, 0, 0)), 0).await;
        opened.log.advance_start_offset(Offset(2)).await.unwrap();
        opened.log.truncate_to(Offset(2)).await.unwrap();
        assert_eq!((opened.log.end_offset(), opened.log.size_bytes()), (Offset(2), 0));
        assert_eq!(opened.log.producer_count(), 0);
        opened.close().await;
    });
}
