//! Old segments go, whole and for good, and nothing else does.
#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

mod common;

use std::time::Duration;

use common::{Open, append, batch, idempotent, open, partition, read_all};
use rt::sim::{Crash, DiskControl, FaultOp, Latency, Sim};
use storage::{Log, LogConfig, LogDirConfig, Offset, ReadError, StorageError};

const DIR: &str = "/data/orders-0";

/// Four records of a kilobyte a segment, read from files.
fn small() -> LogConfig {
    LogConfig {
        segment_bytes: 5_000,
        index_interval_bytes: 1_000,
        tail_bytes_max: 0,
        retention_ms: None,
        file_delete_delay_ms: 1_000,
        ..LogConfig::default()
    }
}

async fn start(config: LogConfig) -> Open {
    open("/data", config, LogDirConfig::default()).await
}

/// Appends a record of a kilobyte for each timestamp.
async fn append_at(log: &Log, timestamps_ms: impl IntoIterator<Item = i64>) {
    for timestamp_ms in timestamps_ms {
        append(log, batch(log.end_offset().0 as u64, 1, 1_000, timestamp_ms), 0).await;
    }
    log.wait_synced(log.end_offset()).await.unwrap();
}

async fn retain(log: &Log) {
    log.retain(log.end_offset(), rt::unix_ms()).await.unwrap();
}

/// The names of a kind in the log's directory.
fn names(disk: &DiskControl, ending: &str) -> Vec<String> {
    disk.names(DIR).into_iter().filter(|name| name.ends_with(ending)).collect()
}

fn with_retention_ms(log: &Log, retention_ms: u64) {
    log.set_config(LogConfig { retention_ms: Some(retention_ms), ..(*log.config()).clone() });
}

#[test]
fn old_segments_go_and_their_files_some_time_later() {
    let (sim, node) = Sim::with_node(7);
    let disk = node.disk();
    sim.block_on(&node, async move {
        let opened = start(small()).await;
        let log = &opened.log;
        let now_ms = rt::unix_ms();
        append_at(log, (0..10).map(|at| now_ms - 10_000 + at * 100)).await;
        rt::sleep(Duration::from_millis(100)).await;
        assert_eq!((log.segment_count(), names(&disk, ".log").len()), (3, 3));
        retain(log).await;
        assert_eq!(log.start_offset(), Offset(0), "there is no limit");
        // The newest of the first segment is 9,800 ms old, of the next 9,400.
        with_retention_ms(log, 9_750);
        retain(log).await;
        assert_eq!((log.start_offset(), log.segment_count()), (Offset(4), 2));
        assert_eq!(names(&disk, ".log")[0], "00000000000000000004.log");
        let doomed = names(&disk, ".deleted");
        assert_eq!(doomed.len(), 3, "index, time index and log: {doomed:?}");
        let below = log.read(Offset(3), Offset(10), 10_000, true).await;
        assert!(matches!(below, Err(ReadError::OffsetOutOfRange { start: Offset(4), .. })), "{below:?}");
        assert_eq!(read_all(log, Offset(4), 10_000).await.len(), 6);
        assert_eq!((opened.dir.stats().deleted_segments.get(), log.size_bytes() > 6_000), (1, true));
        rt::sleep(Duration::from_millis(900)).await;
        assert_eq!(names(&disk, ".deleted").len(), 3);
        rt::sleep(Duration::from_millis(200)).await;
        assert_eq!(names(&disk, ".deleted"), [""; 0]);
        opened.close().await;
        let opened = start(small()).await;
        assert_eq!((opened.clean, opened.log.start_offset()), (true, Offset(4)));
        assert_eq!(read_all(&opened.log, Offset(4), 10_000).await.len(), 6);
    });
}

#[test]
fn what_is_not_committed_stays() {
    let (sim, node) = Sim::with_node(7);
    sim.block_on(&node, async {
        let opened = start(LogConfig { retention_ms: Some(1), ..small() }).await;
        append_at(&opened.log, [5; 10]).await;
        opened.log.retain(Offset(7), rt::unix_ms()).await.unwrap();
        assert_eq!(opened.log.start_offset(), Offset(4));
        opened.log.retain(Offset(8), rt::unix_ms()).await.unwrap();
        assert_eq!(opened.log.start_offset(), Offset(8));
        opened.log.retain(Offset(9), rt::unix_ms()).await.unwrap();
        assert_eq!((opened.log.start_offset(), opened.log.segment_count()), (Offset(8), 1), "the active one");
    });
}

/// The active segment is closed first, and the log goes on where it was: offsets, producers, and the file's name.
#[test]
fn a_log_that_is_old_throughout_is_emptied_and_goes_on() {
    for crash in [None, Some(Crash::Kill), Some(Crash::PowerCut)] {
        let (sim, node) = Sim::with_node(7);
        let disk = node.disk();
        sim.block_on(&node, async move {
            let opened = start(LogConfig { retention_ms: Some(1), ..small() }).await;
            append_at(&opened.log, [5; 9]).await;
            append(&opened.log, idempotent(9, 1, 100, 5, (7, 0, 0)), 0).await;
            opened.log.wait_synced(Offset(10)).await.unwrap();
            retain(&opened.log).await;
            let log = &opened.log;
            assert_eq!((log.start_offset(), log.end_offset()), (Offset(10), Offset(10)));
            assert_eq!((log.size_bytes(), log.segment_count(), log.producer_count()), (0, 1, 1));
            assert_eq!(names(&disk, ".log"), ["00000000000000000010.log"]);
            assert_eq!(names(&disk, ".snapshot"), ["00000000000000000010.snapshot"]);
            // An empty segment is neither closed nor removed.
            retain(log).await;
            log.roll_if_old(i64::MAX).await.unwrap();
            assert_eq!((names(&disk, ".log").len(), log.segment_count()), (1, 1));
            if crash.is_none() {
                opened.close().await;
            }
        });
        if let Some(crash) = crash {
            node.crash(crash);
        }
        let disk = node.disk();
        sim.block_on(&node, async move {
            let opened = start(small()).await;
            let log = &opened.log;
            assert_eq!((log.start_offset(), log.end_offset()), (Offset(10), Offset(10)), "{crash:?}");
            assert_eq!(names(&disk, ".deleted"), [""; 0]);
            let again = idempotent(9, 1, 100, 5, (7, 0, 0));
            let reservation = log.reserve_batch(&again).await.unwrap();
            let refused = log.append(reservation, again, storage::LeaderEpoch(0), 5);
            assert!(matches!(refused, Err(storage::AppendError::Duplicate { .. })), "{crash:?}: {refused:?}");
            append_at(log, [6; 6]).await;
            assert_eq!(read_all(log, Offset(10), 10_000).await.len(), 6);
        });
    }
}

/// Whatever a crash undoes of the renames, nothing below the start comes back, and what is left goes.
#[test]
fn what_a_crash_leaves_of_removed_segments_goes_at_the_next_look() {
    for seed in 0..60 {
        let (sim, node) = Sim::with_node(seed);
        let work = node.spawn(async {
            let opened = start(small()).await;
            let log = &opened.log;
            append(log, idempotent(0, 1, 100, 5, (7, 0, 0)), 0).await;
            append_at(log, [5; 20]).await;
            with_retention_ms(log, 1);
            let half = Offset(13);
            log.retain(half, rt::unix_ms()).await.unwrap();
            std::future::pending::<()>().await;
        });
        sim.run_steps(400 + sim.choose(400));
        node.crash(if sim.choose(2) == 0 { Crash::Kill } else { Crash::PowerCut });
        drop(work);
        let disk = node.disk();
        sim.block_on(&node, async move {
            let opened = start(small()).await;
            let log = &opened.log;
            let start = log.start_offset();
            assert_eq!(names(&disk, ".deleted"), [""; 0]);
            assert_eq!(log.producer_count(), usize::from(log.end_offset() > Offset(0)));
            retain(log).await;
            let first = names(&disk, ".log").first().cloned().unwrap_or_default();
            let held = first[..20.min(first.len())].parse::<i64>().unwrap_or_default();
            assert!(held <= start.0 && held + 6 > start.0, "{first} of a log that starts at {start}");
            read_all(log, start, 10_000).await;
        });
    }
}

#[test]
fn readers_finish_or_are_told_where_the_log_starts() {
    for seed in 0..40 {
        let (sim, node) = Sim::with_node(seed);
        node.disk().set_latency(Latency { read_us: 40..=3_000, name_us: 5..=2_000, ..Latency::default() });
        sim.block_on(&node, async {
            let opened = start(LogConfig { file_delete_delay_ms: 0, ..small() }).await;
            let now_ms = rt::unix_ms();
            append_at(&opened.log, (0..60).map(|at| now_ms + at)).await;
            opened.close().await;
            // Nothing is in memory, no file is open, no timestamp is known.
            let opened = start(LogConfig { file_delete_delay_ms: 0, ..small() }).await;
            let log = opened.log.clone();
            let reader = rt::spawn(async move {
                let (mut at, mut found) = (Offset(0), 0);
                while at < Offset(60) {
                    match log.read(at, Offset(60), 2_500, true).await {
                        Ok(slice) => (at, found) = (slice.next_offset, found + 1),
                        Err(ReadError::OffsetOutOfRange { start, .. }) if start > at => at = start,
                        Err(error) => panic!("{error}"),
                    }
                }
                found
            });
            let log = opened.log.clone();
            let searcher = rt::spawn(async move {
                for at in 0..60 {
                    let start = log.start_offset();
                    let found = log.offset_for_timestamp(now_ms + at, Offset(60)).await.unwrap().unwrap();
                    assert!(found.offset >= Offset(at).max(start), "{found:?}");
                    let largest = log.max_timestamp_offset(Offset(60)).await.unwrap().unwrap();
                    assert_eq!(largest.offset, Offset(59));
                }
            });
            for upto in 1..60 {
                with_retention_ms(&opened.log, 0);
                opened.log.retain(Offset(upto), now_ms + 1_000).await.unwrap();
                rt::sleep(Duration::from_micros(rt::random_u64() % 4_000)).await;
            }
            assert!(reader.await > 0);
            searcher.await;
            assert_eq!((opened.dir.failure(), opened.log.start_offset()), (None, Offset(56)));
        });
    }
}

#[test]
fn the_active_segment_is_closed_by_its_age_without_traffic() {
    let (sim, node) = Sim::with_node(7);
    sim.block_on(&node, async {
        let config = LogConfig { segment_ms: 10_000, segment_jitter_ms: 1_000, ..small() };
        let opened = start(config.clone()).await;
        let log = &opened.log;
        log.roll_if_old(rt::unix_ms() + 20_000).await.unwrap();
        assert_eq!(log.segment_count(), 1, "an empty one has no age");
        // Old records that came just now: the age is the segment's.
        append_at(log, [5, 6]).await;
        rt::sleep(Duration::from_millis(8_900)).await;
        log.roll_if_old(rt::unix_ms()).await.unwrap();
        assert_eq!(log.segment_count(), 1);
        rt::sleep(Duration::from_millis(200)).await;
        log.roll_if_old(rt::unix_ms()).await.unwrap();
        assert_eq!((log.segment_count(), log.end_offset()), (2, Offset(2)));
        log.roll_if_old(rt::unix_ms()).await.unwrap();
        assert_eq!(log.segment_count(), 2);
        let now_ms = rt::unix_ms();
        append_at(log, [now_ms]).await;
        opened.close().await;
        // A restart doesn't make it younger.
        rt::sleep(Duration::from_secs(5)).await;
        let opened = start(config).await;
        let log = &opened.log;
        rt::sleep(Duration::from_millis(3_500)).await;
        log.roll_if_old(rt::unix_ms()).await.unwrap();
        assert_eq!(log.segment_count(), 2);
        rt::sleep(Duration::from_millis(600)).await;
        log.roll_if_old(rt::unix_ms()).await.unwrap();
        assert_eq!(log.segment_count(), 3);
    });
}

#[test]
fn records_of_the_year_2100_go_an_hour_after_they_came() {
    const YEAR_2100_MS: i64 = 4_102_444_800_000;
    let (sim, node) = Sim::with_node(7);
    sim.block_on(&node, async {
        let config = LogConfig { retention_ms: Some(1_000), ..small() };
        let opened = start(config.clone()).await;
        append_at(&opened.log, [YEAR_2100_MS; 5]).await;
        rt::sleep(Duration::from_secs(10)).await;
        retain(&opened.log).await;
        assert_eq!(opened.log.start_offset(), Offset(0));
        opened.close().await;
        // The same of a log that was there already.
        rt::sleep(Duration::from_secs(3_580)).await;
        let opened = start(config).await;
        retain(&opened.log).await;
        assert_eq!(opened.log.start_offset(), Offset(0), "a producer may be an hour ahead");
        rt::sleep(Duration::from_secs(30)).await;
        retain(&opened.log).await;
        assert_eq!(opened.log.start_offset(), Offset(5));
    });
}

#[test]
fn settings_act_from_the_next_look_on() {
    let (sim, node) = Sim::with_node(7);
    sim.block_on(&node, async {
        let opened = start(small()).await;
        let log = &opened.log;
        append_at(log, [5; 22]).await;
        let with = |change: fn(LogConfig) -> LogConfig| log.set_config(change((*log.config()).clone()));
        with(|config| LogConfig { delete: false, retention_ms: Some(1), retention_bytes: Some(1), ..config });
        retain(log).await;
        assert_eq!(log.start_offset(), Offset(0), "it is compacted only");
        log.advance_start_offset(Offset(6)).await.unwrap();
        retain(log).await;
        assert_eq!((log.start_offset(), log.segment_count()), (Offset(6), 5), "below the start");
        with(|config| LogConfig { delete: true, retention_ms: None, retention_bytes: Some(8_000), ..config });
        retain(log).await;
        assert_eq!((log.start_offset(), log.segment_count()), (Offset(12), 3));
        with(|config| LogConfig { retention_bytes: None, ..config });
        retain(log).await;
        assert_eq!(log.start_offset(), Offset(12));
        with_retention_ms(log, 1);
        retain(log).await;
        assert_eq!((log.start_offset(), log.size_bytes()), (Offset(22), 0));
    });
}

/// A file that can't be renamed is no reason to take the directory offline; nor is it served again.
#[test]
fn a_refused_rename_costs_nothing_but_space() {
    let (sim, node) = Sim::with_node(7);
    let disk = node.disk();
    sim.block_on(&node, async move {
        let opened = start(LogConfig { retention_ms: Some(1), ..small() }).await;
        append_at(&opened.log, [5; 10]).await;
        rt::sleep(Duration::from_millis(100)).await;
        disk.fail(FaultOp::RenameBusy, "0000.log", 1);
        let refused = opened.log.retain(Offset(9), rt::unix_ms()).await;
        assert!(matches!(refused, Err(StorageError::Io { .. })), "{refused:?}");
        assert_eq!((opened.log.start_offset(), opened.dir.failure()), (Offset(8), None));
        opened.log.retain(Offset(9), rt::unix_ms()).await.unwrap();
        // Without space for another name it goes at once.
        append_at(&opened.log, [5; 4]).await;
        rt::sleep(Duration::from_millis(100)).await;
        disk.fail(FaultOp::Rename, "00000008.", u32::MAX);
        opened.log.retain(Offset(13), rt::unix_ms()).await.unwrap();
        disk.clear_faults();
        assert_eq!((opened.log.start_offset(), opened.dir.failure()), (Offset(12), None));
        assert_eq!(names(&disk, ".log"), ["00000000000000000000.log", "00000000000000000012.log"]);
        opened.close().await;
        let opened = start(small()).await;
        assert_eq!((opened.log.start_offset(), opened.log.segment_count()), (Offset(12), 2));
        retain(&opened.log).await;
        assert_eq!(names(&disk, ".log"), ["00000000000000000012.log"]);
        opened.dir.delete_log(&partition()).await.unwrap();
        assert!(matches!(opened.log.retain(Offset(14), 0).await, Err(StorageError::Offline)));
    });
}
