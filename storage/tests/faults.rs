//! Disks that fail, fill up, or lie: what a log does then.
#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

mod common;

use common::{append, batch, open, partition, read_all};
use rt::sim::{Crash, FaultOp, Sim};
use storage::{
    AppendError, DirHome, HomeConfig, LeaderEpoch, LogConfig, LogDir, LogDirConfig, LogStatus, Offset,
    ReadError, StorageError, WaitError,
};

fn small() -> LogConfig {
    LogConfig { segment_bytes: 40_000, index_interval_bytes: 1_000, ..LogConfig::default() }
}

#[test]
fn a_failed_write_or_sync_takes_the_directory_offline() {
    for (op, part) in [(FaultOp::Write, ".log"), (FaultOp::Sync, ".log")] {
        let (sim, node) = Sim::with_node(3);
        let disk = node.disk();
        sim.block_on(&node, async move {
            let opened = open("/data", small(), LogDirConfig::default()).await;
            let other = storage::TopicPartition::new("other", 0);
            let other = opened.dir.create_log(other, protocol::types::Uuid::ZERO, small()).await.unwrap();
            append(&other, batch(9, 1, 100, 5), 0).await;
            append(&opened.log, batch(0, 1, 100, 5), 0).await;
            opened.log.wait_synced(Offset(1)).await.unwrap();
            other.wait_synced(Offset(1)).await.unwrap();
            disk.fail(op, &format!("orders-0/00000000000000000000{part}"), 1);
            append(&opened.log, batch(1, 1, 100, 5), 0).await;
            assert_eq!(opened.log.wait_synced(Offset(2)).await, Err(WaitError::Offline), "{op:?}");
            assert!(opened.dir.failed().await.contains("orders-0"));
            for log in [&opened.log, &other] {
                assert!(log.is_offline());
                assert!(matches!(log.reserve(100).await, Err(StorageError::Offline)));
                assert!(matches!(log.read(Offset(0), Offset(1), 100, true).await, Err(ReadError::Offline)));
            }
            assert_eq!(other.wait_written(Offset(2)).await, Err(WaitError::Offline));
            // Nothing was retried as if it had worked, and the stop isn't a clean one.
            let closed = opened.dir.close().await;
            assert!(!closed.clean);
        });
        node.crash(Crash::PowerCut);
        node.disk().clear_faults();
        sim.block_on(&node, async {
            let opened = open("/data", small(), LogDirConfig::default()).await;
            assert!(!opened.clean && opened.log.end_offset() >= Offset(1));
        });
    }
}

#[test]
fn a_reservation_held_across_the_failure_is_refused() {
    let (sim, node) = Sim::with_node(3);
    sim.block_on(&node, async {
        let opened = open("/data", small(), LogDirConfig::default()).await;
        let made = batch(0, 1, 100, 5);
        let reservation = opened.log.reserve(made.total_bytes()).await.unwrap();
        opened.dir.fail("another shard saw it fail");
        let result = opened.log.append(reservation, made, LeaderEpoch(0), 5);
        assert_eq!(result, Err(AppendError::Offline));
    });
}

/// Who waited for memory that is given back when records are written waited for ever.
#[test]
fn those_that_wait_for_memory_learn_that_the_log_is_offline() {
    for case in ["the directory failed", "the log was deleted", "the log was closed"] {
        let (sim, node) = Sim::with_node(3);
        sim.block_on(&node, async move {
            let dir_config = LogDirConfig { unplaced_bytes_max: 1_000, ..LogDirConfig::default() };
            let opened = open("/data", small(), dir_config).await;
            let beside = storage::TopicPartition::new("other", 0);
            let beside = opened.dir.create_log(beside, protocol::types::Uuid::ZERO, small()).await.unwrap();
            let held = beside.reserve(1_000).await.unwrap();
            let log = opened.log.clone();
            let waiting = rt::spawn(async move { log.reserve(1_000).await.map(drop) });
            rt::sleep(std::time::Duration::from_millis(10)).await;
            assert!(!waiting.is_finished());
            match case {
                "the directory failed" => opened.dir.fail(case),
                "the log was deleted" => opened.dir.delete_log(&partition()).await.unwrap(),
                _ => drop(opened.log.close().await.unwrap()),
            }
            let waited = rt::timeout(std::time::Duration::from_secs(5), waiting).await;
            assert!(matches!(waited.expect(case), Err(StorageError::Offline)), "{case}");
            drop(held);
        });
    }
}

/// A write-back that failed is told once to each descriptor: a shard that opened its own for the sync took for durable what another
/// shard's sync had failed to bring to the device.
#[test]
fn a_failed_sync_of_the_device_is_told_to_every_shard() {
    let (sim, node) = Sim::with_node(3);
    let disk = node.disk();
    sim.block_on(&node, async move {
        let journal = |shard| storage::JournalConfig {
            shard,
            bytes: 8 << 20,
            direct_bytes: 64 << 10,
            age_max: std::time::Duration::from_millis(500),
        };
        let config = |shard| LogDirConfig { journal: journal(shard), ..LogDirConfig::default() };
        let (home, facts) =
            DirHome::open("/data", HomeConfig { node_id: 1, cluster_id: None }).await.unwrap();
        let mut shards = Vec::new();
        for shard in 0..2 {
            let dir = LogDir::open("/data", facts.clone(), config(shard)).await.unwrap();
            // As many as one sync of the device serves.
            for at in 0..40 {
                let of = storage::TopicPartition::new(format!("topic{shard}"), at);
                dir.create_log(of, protocol::types::Uuid([7; 16]), small()).await.unwrap();
            }
            shards.push(dir);
        }
        home.begin_use().await.unwrap();
        for tag in 0..4 {
            for log in shards.iter().flat_map(LogDir::logs) {
                append(&log, batch(tag, 1, 100, 5), 0).await;
            }
            for log in shards.iter().flat_map(LogDir::logs) {
                log.flush().await.unwrap();
            }
        }
        assert!(shards.iter().all(|dir| dir.stats().journal_frames.get() > 0));
        disk.fail(FaultOp::Sync, "/data/.lock", 1);
        rt::sleep(std::time::Duration::from_secs(5)).await;
        for (shard, dir) in shards.iter().enumerate() {
            assert!(dir.failure().is_some(), "shard {shard} frees its journal");
        }
    });
}

#[test]
fn a_failed_read_fails_that_read_only() {
    let (sim, node) = Sim::with_node(3);
    let disk = node.disk();
    sim.block_on(&node, async move {
        let config = LogConfig { tail_bytes_max: 0, ..small() };
        let opened = open("/data", config, LogDirConfig::default()).await;
        for tag in 0..60 {
            append(&opened.log, batch(tag, 1, 1_000, 5), 0).await;
        }
        disk.fail(FaultOp::Read, ".log", 1);
        let failed = opened.log.read(Offset(3), Offset(60), 5_000, true).await;
        assert!(matches!(failed, Err(ReadError::Io { .. })), "{failed:?}");
        assert_eq!(read_all(&opened.log, Offset(3), 5_000).await.len(), 57);
        assert!(!opened.log.is_offline());
    });
}

#[test]
fn a_full_disk_is_met_by_reserving_and_space_lets_it_go_on() {
    let (sim, node) = Sim::with_node(3);
    let disk = node.disk();
    sim.block_on(&node, async move {
        disk.set_capacity(Some(400_000));
        let opened = open("/data", LogConfig::default(), LogDirConfig::default()).await;
        let mut appended = 0;
        let error = loop {
            let made = batch(appended, 1, 3_000, 5);
            match opened.log.reserve(made.total_bytes()).await {
                Ok(reservation) => opened.log.append(reservation, made, LeaderEpoch(0), 5).unwrap(),
                Err(error) => break error,
            };
            appended += 1;
        };
        assert!(matches!(error, StorageError::NoSpace), "{error}");
        assert!(appended > 100, "most of the space was used: {appended}, free {}", disk.free_bytes());
        opened.log.wait_synced(Offset(appended as i64)).await.unwrap();
        assert_eq!(read_all(&opened.log, Offset(0), 100_000).await.len() as u64, appended);
        disk.set_capacity(None);
        append(&opened.log, batch(appended, 1, 3_000, 5), 0).await;
        opened.close().await;
        let opened = open("/data", LogConfig::default(), LogDirConfig::default()).await;
        assert_eq!(opened.log.end_offset(), Offset(appended as i64 + 1));
    });
}

#[test]
fn damage_below_the_recovery_point_is_reported_and_kept() {
    let (sim, node) = Sim::with_node(3);
    let log_file = "/data/orders-0/00000000000000000000.log";
    sim.block_on(&node, async {
        let opened = open("/data", LogConfig::default(), LogDirConfig::default()).await;
        for tag in 0..20 {
            append(&opened.log, batch(tag, 1, 1_000, 5), 0).await;
        }
        opened.log.wait_synced(Offset(20)).await.unwrap();
        opened.log.checkpoint().await.unwrap();
        append(&opened.log, batch(20, 1, 1_000, 5), 0).await;
        opened.log.wait_synced(Offset(21)).await.unwrap();
    });
    node.crash(Crash::Kill);
    // Behind the recovery point: a torn tail, cut.
    node.disk().corrupt(log_file, 20 * 1_100 + 300, 1).unwrap();
    let bytes = node.disk().read_file(log_file).unwrap().len();
    sim.block_on(&node, async {
        let opened = open("/data", LogConfig::default(), LogDirConfig::default()).await;
        assert_eq!((opened.log.status(), opened.log.end_offset()), (LogStatus::Online, Offset(20)));
    });
    node.crash(Crash::Kill);
    assert!(node.disk().read_file(log_file).unwrap().len() < bytes);
    // Below: damage, reported and left alone.
    node.disk().corrupt(log_file, 3_000, 1).unwrap();
    let bytes = node.disk().read_file(log_file).unwrap();
    sim.block_on(&node, async {
        let opened = open("/data", LogConfig::default(), LogDirConfig::default()).await;
        let LogStatus::Corrupt(reason) = opened.log.status() else { panic!("damage wasn't noticed") };
        assert!(reason.contains("CRC") && reason.contains("offset 20 was synced"), "{reason}");
        assert!(opened.log.is_offline() && opened.log.reserve(10).await.is_err());
        assert!(!opened.dir.close().await.clean);
    });
    assert_eq!(node.disk().read_file(log_file).unwrap(), bytes);
}

/// The directory's file of recovery points goes as it is taken into use: a second start took the damage for a torn end.
#[test]
fn damage_below_what_kafka_synced_is_reported_by_every_start() {
    let (sim, node) = Sim::with_node(3);
    let log_file = "/data/orders-0/00000000000000000000.log";
    sim.block_on(&node, async {
        let opened = open("/data", LogConfig::default(), LogDirConfig::default()).await;
        for tag in 0..20 {
            append(&opened.log, batch(tag, 1, 1_000, 5), 0).await;
        }
        opened.close().await;
        // As a Kafka that was killed leaves it.
        for name in [".kafka_cleanshutdown", "orders-0/ringlog-checkpoint"] {
            rt::fs::remove_file(std::path::Path::new("/data").join(name)).await.unwrap();
        }
    });
    let point = node.disk().read_file("/data/recovery-point-offset-checkpoint").unwrap();
    assert_eq!(point, &b"0\n1\norders 0 20\n"[..]);
    node.disk().corrupt(log_file, 3_000, 1).unwrap();
    let bytes = node.disk().read_file(log_file).unwrap();
    for start in 1..=3 {
        sim.block_on(&node, async move {
            let opened = open("/data", LogConfig::default(), LogDirConfig::default()).await;
            let LogStatus::Corrupt(reason) = opened.log.status() else { panic!("start {start} cut it off") };
            assert!(reason.contains("offset 20 was synced"), "start {start}: {reason}");
            assert!(!opened.dir.close().await.clean);
        });
        node.crash(Crash::Kill);
    }
    assert_eq!(node.disk().read_file(log_file).unwrap(), bytes);
}

#[test]
fn a_checkpoint_of_a_later_release_is_refused() {
    let (sim, node) = Sim::with_node(3);
    sim.block_on(&node, async {
        let opened = open("/data", small(), LogDirConfig::default()).await;
        append(&opened.log, batch(0, 1, 100, 5), 0).await;
        opened.log.wait_synced(Offset(1)).await.unwrap();
        opened.log.checkpoint().await.unwrap();
    });
    node.crash(Crash::Kill);
    let file = "/data/orders-0/ringlog-checkpoint";
    let mut newer = node.disk().read_file(file).unwrap().to_vec();
    newer[5] = 2;
    node.disk().put_file(file, newer).unwrap();
    sim.block_on(&node, async {
        let opened = open("/data", small(), LogDirConfig::default()).await;
        let LogStatus::Corrupt(reason) = opened.log.status() else { panic!("opened") };
        assert!(reason.contains("later release"), "{reason}");
    });
}

#[test]
fn a_directory_of_another_node_or_cluster_is_refused() {
    let (sim, node) = Sim::with_node(3);
    sim.block_on(&node, async {
        let config = |node_id, cluster_id: Option<&str>| HomeConfig {
            node_id,
            cluster_id: cluster_id.map(Into::into),
        };
        let (home, facts) = DirHome::open("/data", config(1, Some("mine"))).await.unwrap();
        assert_eq!(facts.cluster_id, "mine");
        drop(home);
        for other in [config(2, Some("mine")), config(1, Some("yours"))] {
            let Err(StorageError::Refused { reason, .. }) = DirHome::open("/data", other).await else {
                panic!("accepted")
            };
            assert!(reason.contains("it is of"), "{reason}");
        }
        let (_, again) = DirHome::open("/data", config(1, None)).await.unwrap();
        assert_eq!(again.directory_id, facts.directory_id);
    });
}

#[test]
fn a_directory_that_is_still_being_filled_is_refused() {
    let (sim, node) = Sim::with_node(3);
    let disk = node.disk();
    sim.block_on(&node, async move {
        let open = || DirHome::open("/data", HomeConfig { node_id: 1, cluster_id: None });
        drop(open().await.unwrap());
        disk.put_file("/data/ringlog-adopting", Vec::<u8>::new()).unwrap();
        let Err(StorageError::Refused { reason, .. }) = open().await else { panic!("accepted") };
        assert!(reason.contains("ringlog log adopt"), "{reason}");
        rt::fs::remove_file("/data/ringlog-adopting").await.unwrap();
        open().await.unwrap();
    });
}

#[test]
fn zero_filled_space_is_no_data_and_a_zero_crc_is_no_end() {
    let (sim, node) = Sim::with_node(3);
    sim.block_on(&node, async {
        let opened = open("/data", LogConfig::default(), LogDirConfig::default()).await;
        // A batch whose CRC is 0, found by trying timestamps' low bits in its value.
        let zero = batch_with_zero_crc();
        assert_eq!(zero.header().crc, 0);
        append(&opened.log, zero, 0).await;
        append(&opened.log, batch(1, 1, 100, 5), 0).await;
        opened.log.wait_synced(Offset(2)).await.unwrap();
    });
    node.crash(Crash::PowerCut);
    sim.block_on(&node, async {
        let opened = open("/data", LogConfig::default(), LogDirConfig::default()).await;
        assert_eq!(opened.log.end_offset(), Offset(2));
    });
}

/// CRC-32C is linear: four free bytes at the end of a value are enough to make it anything.
fn batch_with_zero_crc() -> protocol::records::RecordBatch {
    let mut bytes = batch(7, 1, 64, 5).bytes().to_vec();
    // The record ends with the header count: the four bytes before it belong to the value.
    let at = bytes.len() - 5;
    let crc_of = |bytes: &[u8]| crc32c::crc32c(&bytes[21..]);
    // Gauss: which of the 32 bits flip which bits of the CRC.
    let base = crc_of(&bytes);
    let mut rows: Vec<(u32, u32)> = (0..32)
        .map(|bit| {
            let mut flipped = bytes.clone();
            flipped[at + bit / 8] ^= 1 << (bit % 8);
            (crc_of(&flipped) ^ base, 1 << bit)
        })
        .collect();
    let (mut want, mut flips) = (base, 0u32);
    for bit in 0..32 {
        let Some(pivot) = rows.iter().position(|row| row.0 & (1 << bit) != 0) else { continue };
        let pivot = rows.swap_remove(pivot);
        for row in &mut rows {
            if row.0 & (1 << bit) != 0 {
                *row = (row.0 ^ pivot.0, row.1 ^ pivot.1);
            }
        }
        if want & (1 << bit) != 0 {
            (want, flips) = (want ^ pivot.0, flips ^ pivot.1);
        }
    }
    for bit in 0..32 {
        if flips & (1 << bit) != 0 {
            bytes[at + bit / 8] ^= 1 << (bit % 8);
        }
    }
    let crc = crc_of(&bytes);
    bytes[17..21].copy_from_slice(&crc.to_be_bytes());
    protocol::records::RecordBatch::parse(bytes.into()).unwrap()
}

#[test]
fn many_logs_open_and_close_cheaply() {
    let (sim, node) = Sim::with_node(3);
    let disk = node.disk();
    sim.block_on(&node, async move {
        let (home, facts) =
            DirHome::open("/data", HomeConfig { node_id: 1, cluster_id: None }).await.unwrap();
        let dir = LogDir::open("/data", facts, LogDirConfig::default()).await.unwrap();
        for number in 0..100 {
            let of = storage::TopicPartition::new("many", number);
            dir.create_log(of, protocol::types::Uuid::ZERO, LogConfig::default()).await.unwrap();
        }
        assert_eq!(
            disk.names("/data/many-7"),
            ["partition.metadata"],
            "no space is taken before the first record"
        );
        let logs = dir.logs();
        for log in &logs {
            append(log, batch(1, 1, 100, 5), 0).await;
        }
        for log in &logs {
            log.wait_synced(Offset(1)).await.unwrap();
        }
        home.begin_use().await.unwrap();
        let closed = dir.close().await;
        assert!(closed.clean && closed.logs.len() == 100);
        home.close(&[closed], &storage::Offsets::new(), 1).await.unwrap();
        let (_, facts) = DirHome::open("/data", HomeConfig { node_id: 1, cluster_id: None }).await.unwrap();
        assert!(facts.clean && facts.partitions.len() == 100);
        let dir = LogDir::open("/data", facts.clone(), LogDirConfig::default()).await.unwrap();
        let wanted = facts.partitions.into_iter().map(|of| (of, LogConfig::default())).collect();
        let logs = dir.open_logs(wanted).await.unwrap();
        assert!(logs.iter().all(|log| log.end_offset() == Offset(1)));
        assert_eq!(dir.tail_bytes(), 0, "nothing is loaded before it is needed");
        let _ = partition();
    });
}
