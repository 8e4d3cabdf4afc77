//! A log's everyday life on a simulated disk.
#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

mod common;

use std::time::Duration;

use common::{Open, append, batch, idempotent, open, read_all, stamped, tag_of};
use rt::sim::{Latency, Sim};
use storage::{AppendError, LeaderEpoch, LogConfig, LogDirConfig, Offset, ReadError, StorageError};

fn on_sim<F: Future<Output = ()> + 'static>(test: F) {
    let (sim, node) = Sim::with_node(1);
    sim.block_on(&node, test);
}

fn small() -> LogConfig {
    LogConfig { segment_bytes: 40_000, index_interval_bytes: 1_000, ..LogConfig::default() }
}

#[test]
fn appends_are_read_back_from_memory_and_from_files() {
    on_sim(async {
        let tail = LogConfig { tail_bytes_max: 4_000, ..small() };
        for (config, name) in [(LogConfig::default(), "/memory"), (tail, "/files")] {
            let opened = open(name, config, LogDirConfig::default()).await;
            for tag in 0..200 {
                append(&opened.log, batch(tag, 3, 900, 1_000), 0).await;
            }
            opened.log.wait_synced(Offset(600)).await.unwrap();
            let all = read_all(&opened.log, Offset::ZERO, 7_000).await;
            assert_eq!(all.iter().map(tag_of).collect::<Vec<_>>(), (0..200).collect::<Vec<_>>());
            let middle = read_all(&opened.log, Offset(301), 1).await;
            assert_eq!((tag_of(&middle[0]), middle[0].header().base_offset, middle.len()), (100, 300, 100));
            assert!(opened.log.readable_bytes(Offset(0), Offset(600), 1 << 20) > 100_000);
            assert_eq!(opened.log.readable_bytes(Offset(600), Offset(600), 1 << 20), 0);
            assert!(matches!(
                opened.log.read(Offset(601), Offset(700), 1, true).await,
                Err(ReadError::OffsetOutOfRange { .. })
            ));
            opened.close().await;
        }
    });
}

#[test]
fn a_clean_stop_is_trusted_and_nothing_is_lost() {
    on_sim(async {
        for round in 0..5u64 {
            let opened = open("/data", small(), LogDirConfig::default()).await;
            assert_eq!(opened.clean, round > 0);
            let log = &opened.log;
            assert_eq!(log.end_offset(), Offset(round as i64 * 60));
            for tag in 0..30 {
                append(
                    log,
                    idempotent(round * 30 + tag, 2, 3_000, 5, (9, 0, (round * 60 + tag * 2) as i32)),
                    0,
                )
                .await;
            }
            let all = read_all(log, Offset::ZERO, 10_000).await;
            assert_eq!(all.iter().map(tag_of).collect::<Vec<_>>(), (0..(round + 1) * 30).collect::<Vec<_>>());
            assert!(log.segment_count() >= 2 * (round as usize + 1));
            assert_eq!(log.producer_count(), 1);
            opened.close().await;
        }
    });
}

#[test]
fn duplicates_return_the_old_offset_also_after_a_restart() {
    on_sim(async {
        let opened = open("/data", small(), LogDirConfig::default()).await;
        append(&opened.log, batch(0, 5, 100, 5), 0).await;
        append(&opened.log, idempotent(1, 2, 100, 5, (9, 0, 0)), 0).await;
        opened.close().await;
        let opened = open("/data", small(), LogDirConfig::default()).await;
        let again = idempotent(1, 2, 100, 5, (9, 0, 0));
        let reservation = opened.log.reserve(again.total_bytes()).await.unwrap();
        let error = opened.log.append(reservation, again, LeaderEpoch(1), 5).unwrap_err();
        assert!(matches!(
            error,
            AppendError::Duplicate { base_offset: Offset(5), last_offset: Offset(6), .. }
        ));
        let gap = idempotent(1, 2, 100, 5, (9, 0, 3));
        let reservation = opened.log.reserve(gap.total_bytes()).await.unwrap();
        let error = opened.log.append(reservation, gap, LeaderEpoch(1), 5).unwrap_err();
        assert!(matches!(error, AppendError::OutOfOrderSequence { expected_after: 1, .. }));
        assert_eq!(opened.log.end_offset(), Offset(7));
    });
}

#[test]
fn offsets_are_found_by_time_to_the_record() {
    on_sim(async {
        let opened = open("/data", small(), LogDirConfig::default()).await;
        let log = &opened.log;
        append(log, stamped(&[100, 300, 200]), 0).await;
        append(log, stamped(&[150, 50]), 0).await;
        log.roll().await.unwrap();
        append(log, stamped(&[400, 250, 500]), 1).await;
        append(log, stamped(&[500, 10]), 1).await;
        let end = log.end_offset();
        for closed in [false, true] {
            if closed {
                log.roll().await.unwrap();
            }
            for (wanted, offset, timestamp) in
                [(0, 0, 100), (101, 1, 300), (300, 1, 300), (301, 5, 400), (450, 7, 500)]
            {
                let found = log.offset_for_timestamp(wanted, end).await.unwrap().unwrap();
                assert_eq!((found.offset.0, found.timestamp_ms), (offset, timestamp), "{wanted}");
            }
            assert_eq!(log.offset_for_timestamp(501, end).await.unwrap(), None);
            assert_eq!(
                log.offset_for_timestamp(450, Offset(7)).await.unwrap(),
                None,
                "above the high watermark"
            );
            let max = log.max_timestamp_offset(end).await.unwrap().unwrap();
            assert_eq!((max.offset, max.leader_epoch), (Offset(7), LeaderEpoch(1)));
        }
    });
}

#[test]
fn what_was_truncated_is_gone() {
    on_sim(async {
        let opened = open("/data", small(), LogDirConfig::default()).await;
        let log = &opened.log;
        for tag in 0..100 {
            append(log, idempotent(tag, 1, 1_000, 5, (9, 0, tag as i32)), (tag / 30) as i32).await;
        }
        log.truncate_to(Offset(41)).await.unwrap();
        assert_eq!((log.end_offset(), log.latest_epoch()), (Offset(41), Some(LeaderEpoch(1))));
        append(log, idempotent(1_041, 1, 1_000, 5, (9, 0, 41)), 5).await;
        let tags: Vec<u64> = read_all(log, Offset::ZERO, 9_000).await.iter().map(tag_of).collect();
        assert_eq!(tags, (0..41).chain([1_041]).collect::<Vec<_>>());
        log.truncate_to(Offset(42)).await.unwrap();
        assert_eq!(log.end_offset(), Offset(42));
        assert!(matches!(log.advance_start_offset(Offset(50)).await, Err(StorageError::OutOfRange { .. })));
        log.advance_start_offset(Offset(20)).await.unwrap();
        assert!(matches!(log.truncate_to(Offset(19)).await, Err(StorageError::OutOfRange { .. })));
        opened.close().await;
        let opened = open("/data", small(), LogDirConfig::default()).await;
        assert_eq!((opened.log.start_offset(), opened.log.end_offset()), (Offset(20), Offset(42)));
        opened.log.truncate_fully_and_start_at(Offset(500)).await.unwrap();
        assert_eq!(append(&opened.log, batch(1, 1, 100, 5), 9).await, Offset(500));
        opened.close().await;
        let opened = open("/data", small(), LogDirConfig::default()).await;
        assert_eq!((opened.log.start_offset(), opened.log.end_offset()), (Offset(500), Offset(501)));
    });
}

#[test]
fn a_deleted_log_leaves_its_name_free() {
    on_sim(async {
        let opened = open("/data", small(), LogDirConfig::default()).await;
        append(&opened.log, batch(1, 1, 100, 5), 0).await;
        opened.dir.delete_log(&common::partition()).await.unwrap();
        assert!(opened.log.is_offline() && opened.log.reserve(10).await.is_err());
        let id = protocol::types::Uuid([4; 16]);
        let again = opened.dir.create_log(common::partition(), id, small()).await.unwrap();
        assert_eq!(again.end_offset(), Offset::ZERO);
        append(&again, batch(1, 1, 100, 5), 0).await;
        let Err(error) = opened.dir.create_log(common::partition(), id, small()).await else {
            panic!("made twice")
        };
        assert!(matches!(error, StorageError::Exists(_)));
    });
}

#[test]
fn the_largest_timestamp_is_one_that_is_served() {
    on_sim(async {
        let opened = open("/data", small(), LogDirConfig::default()).await;
        let log = &opened.log;
        append(log, stamped(&[900, 100]), 0).await;
        append(log, stamped(&[300, 500, 200]), 0).await;
        append(log, stamped(&[400, 700]), 0).await;
        for rolled in [false, true] {
            if rolled {
                log.roll().await.unwrap();
                append(log, stamped(&[50]), 0).await;
            }
            let max = async |upto| {
                log.max_timestamp_offset(Offset(upto)).await.unwrap().map(|found| found.offset.0)
            };
            assert_eq!(max(7).await, Some(if rolled { 6 } else { 0 }));
            log.advance_start_offset(Offset(1)).await.unwrap();
            assert_eq!(max(7).await, Some(6), "900 isn't served any more");
            assert_eq!(max(5).await, Some(3), "700 isn't below the high watermark");
            assert_eq!(max(1).await, None);
        }
    });
}

/// A thousand batches, each a millisecond younger than the one before, behind what DeleteRecords took away: each used to cost a read of its own,
/// from the batch on.
#[test]
fn the_largest_timestamp_is_found_in_one_pass() {
    const READ_US: u64 = 1_000;
    let (sim, node) = Sim::with_node(1);
    let disk = node.disk();
    sim.block_on(&node, async move {
        // Nothing is kept in memory.
        let dir_config = LogDirConfig { cache_bytes_max: 1, tail_bytes_max: 1, ..LogDirConfig::default() };
        let opened = open("/data", LogConfig::default(), dir_config.clone()).await;
        let log = &opened.log;
        append(log, batch(0, 1, 1_000, 1_000_000), 0).await;
        for tag in 1..1_000 {
            append(log, batch(tag, 1, 1_000, tag as i64), 0).await;
        }
        log.roll().await.unwrap();
        log.advance_start_offset(Offset(1)).await.unwrap();
        opened.close().await;
        let opened = open("/data", LogConfig::default(), dir_config).await;
        let log = &opened.log;
        let fixed = READ_US..=READ_US;
        disk.set_latency(Latency { read_us: fixed, slow_percent: 0, ..Latency::default() });
        let pieces = log.size_bytes().div_ceil(256 << 10);
        for (upto, largest) in [(1_000, 999), (500, 499), (2, 1)] {
            let before = rt::now();
            let found = log.max_timestamp_offset(Offset(upto)).await.unwrap().unwrap();
            assert_eq!((found.offset.0, found.timestamp_ms), (largest, largest));
            let reads = rt::now().saturating_since(before).as_micros() as u64 / READ_US;
            // Without a cache a piece is fetched ahead, walked and sliced, and a read ends within one.
            assert!(reads <= 5 * pieces, "{reads} reads of {pieces} pieces");
        }
        assert_eq!(log.max_timestamp_offset(Offset(1)).await.unwrap(), None);
    });
}

#[test]
fn the_largest_timestamp_is_what_reading_everything_gives() {
    for seed in 0..150 {
        let (sim, node) = Sim::with_node(seed);
        sim.block_on(&node, async {
            let below = |count: u64| rt::random_u64() % count;
            let config = LogConfig { index_interval_bytes: 200, ..small() };
            let opened = open("/data", config, LogDirConfig::default()).await;
            let (log, spread) = (&opened.log, 1 + below(40));
            let mut all: Vec<i64> = Vec::new();
            for _ in 0..30 {
                let times: Vec<i64> = (0..=below(4)).map(|_| below(spread) as i64).collect();
                append(log, stamped(&times), 0).await;
                all.extend(&times);
                if below(8) == 0 {
                    log.roll().await.unwrap();
                }
            }
            for _ in 0..10 {
                let start = log.start_offset().0 as u64 + below(4);
                log.advance_start_offset(Offset(start as i64)).await.unwrap();
                let upto = below(all.len() as u64 + 1) as usize;
                let served = all.iter().zip(0i64..).take(upto).skip(start as usize);
                let largest = served.max_by_key(|(time, at)| (**time, -at)).map(|(time, at)| (*time, at));
                let found = log.max_timestamp_offset(Offset(upto as i64)).await.unwrap();
                assert_eq!(
                    found.map(|found| (found.timestamp_ms, found.offset.0)),
                    largest,
                    "{start}..{upto} of {all:?}"
                );
            }
        });
    }
}

/// The lookup waits for an older segment's index while a roll closes the one that holds the record: it used to find nothing.
#[test]
fn a_lookup_by_time_that_a_roll_overtakes_finds_the_record() {
    let (sim, node) = Sim::with_node(1);
    let disk = node.disk();
    sim.block_on(&node, async move {
        let opened = open("/data", small(), LogDirConfig::default()).await;
        append(&opened.log, stamped(&[100]), 0).await;
        opened.log.roll().await.unwrap();
        append(&opened.log, stamped(&[200]), 0).await;
        opened.close().await;
        let Open { log, .. } = open("/data", small(), LogDirConfig::default()).await;
        append(&log, stamped(&[500]), 0).await;
        disk.set_latency(Latency { read_us: 1_000_000..=1_000_000, ..Latency::default() });
        let (by_time, largest) = (log.clone(), log.clone());
        let by_time = rt::spawn(async move { by_time.offset_for_timestamp(400, Offset(3)).await });
        let largest = rt::spawn(async move { largest.max_timestamp_offset(Offset(3)).await });
        rt::sleep(Duration::from_millis(10)).await;
        log.roll().await.unwrap();
        for lookup in [by_time, largest] {
            let found = lookup.await.unwrap().expect("it is there all the time");
            assert_eq!((found.offset.0, found.timestamp_ms), (2, 500));
        }
    });
}
