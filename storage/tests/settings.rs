//! What a log's settings do, one by one.
#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

mod common;

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use common::{append, batch, batches, open, read_all, stamped};
use protocol::records::{BatchBuilder, RecordBatch, TimestampType};
use rt::sim::{FaultOp, Sim};
use storage::{
    AppendError, LeaderEpoch, LogConfig, LogDirConfig, Offset, StorageError, TimestampSource, WaitError,
};

fn on_sim<F: Future<Output = ()> + 'static>(test: F) {
    let (sim, node) = Sim::with_node(5);
    sim.block_on(&node, test);
}

#[test]
fn segments_roll_by_the_batches_time() {
    on_sim(async {
        let config = LogConfig { segment_ms: 1_000, segment_jitter_ms: 100, ..LogConfig::default() };
        let opened = open("/data", config, LogDirConfig::default()).await;
        for (at, (timestamp, segments)) in
            [(0, 1), (900, 1), (901, 2), (950, 2), (5_000, 3)].into_iter().enumerate()
        {
            append(&opened.log, batch(at as u64, 1, 100, timestamp), 0).await;
            assert_eq!(opened.log.segment_count(), segments, "at {timestamp}");
        }
        // Without the batch at hand the roll comes one batch later.
        let late = batch(9, 1, 100, 50_000);
        let reservation = opened.log.reserve(late.total_bytes()).await.unwrap();
        opened.log.append(reservation, late, LeaderEpoch(0), 0).unwrap();
        assert_eq!(opened.log.segment_count(), 3);
        drop(opened.log.reserve(100).await.unwrap());
        assert_eq!(opened.log.segment_count(), 4);
    });
}

#[test]
fn the_broker_stamps_its_time_where_the_topic_wants_it() {
    on_sim(async {
        let config = LogConfig { timestamps: TimestampSource::LogAppendTime, ..LogConfig::default() };
        let opened = open("/data", config, LogDirConfig::default()).await;
        let made = stamped(&[5, 6, 7]);
        let reservation = opened.log.reserve_batch(&made).await.unwrap();
        let info = opened.log.append(reservation, made, LeaderEpoch(3), 777).unwrap();
        assert_eq!(info.append_time_ms, 777);
        let read = read_all(&opened.log, Offset::ZERO, 1 << 20).await;
        let header = read[0].header();
        assert_eq!(
            (header.attributes.timestamp_type(), header.max_timestamp),
            (TimestampType::LogAppendTime, 777)
        );
        assert_eq!(header.partition_leader_epoch, 3);
        assert!(read[0].records().all(|record| record.unwrap().timestamp == 777));
        let found = opened.log.offset_for_timestamp(700, Offset(3)).await.unwrap().unwrap();
        assert_eq!((found.offset, found.timestamp_ms), (Offset(0), 777));
    });
}

#[test]
fn without_sync_mode_only_what_is_asked_for_is_synced() {
    on_sim(async {
        let config = LogConfig { sync: false, ..LogConfig::default() };
        let opened = open("/data", config.clone(), LogDirConfig::default()).await;
        let log = &opened.log;
        append(log, batch(0, 1, 100, 5), 0).await;
        log.wait_written(Offset(1)).await.unwrap();
        rt::sleep(Duration::from_secs(3)).await;
        assert_eq!((log.written_offset(), log.synced_offset()), (Offset(1), Offset(0)));
        assert_eq!(log.durable_offset(), Offset(1));
        log.flush().await.unwrap();
        assert_eq!(log.synced_offset(), Offset(1));

        log.set_config(LogConfig { flush_messages: 3, ..config.clone() });
        append(log, batch(1, 2, 100, 5), 0).await;
        log.wait_written(Offset(3)).await.unwrap();
        rt::sleep(Duration::from_secs(3)).await;
        assert_eq!(log.synced_offset(), Offset(1), "two of three");
        append(log, batch(1, 1, 100, 5), 0).await;
        log.wait_synced(Offset(4)).await.unwrap();

        log.set_config(LogConfig { flush_after: Some(Duration::from_millis(500)), ..config.clone() });
        append(log, batch(1, 1, 100, 5), 0).await;
        log.wait_written(Offset(5)).await.unwrap();
        let written = rt::now();
        log.wait_synced(Offset(5)).await.unwrap();
        let waited = rt::now().saturating_since(written);
        assert!((400..700).contains(&waited.as_millis()), "{waited:?}");

        append(log, batch(1, 1, 100, 5), 0).await;
        log.set_config(LogConfig { sync: true, ..config });
        log.wait_synced(Offset(6)).await.unwrap();
        opened.close().await;
    });
}

#[test]
fn a_follower_keeps_the_leaders_offsets_and_epochs() {
    on_sim(async {
        let opened = open("/data", LogConfig::default(), LogDirConfig::default()).await;
        let log = &opened.log;
        let fetched = |base: i64, epoch: i32| {
            let mut builder = BatchBuilder::new().base_offset(base).leader_epoch(epoch).producer(4, 0, 70);
            builder.push(5, None, Some(b"value"), &[]);
            RecordBatch::parse(builder.build().unwrap()).unwrap()
        };
        let take = async |made: RecordBatch| {
            let reservation = log.reserve_batch(&made).await.unwrap();
            log.append_as_follower(reservation, made)
        };
        take(fetched(10, 2)).await.unwrap();
        // Sequences were checked by the leader: here they are only remembered.
        take(fetched(15, 4)).await.unwrap();
        let error = take(fetched(15, 4)).await.unwrap_err();
        assert_eq!(error, AppendError::NotContiguous { base_offset: Offset(15), end: Offset(16) });
        let error = take(fetched(16, 3)).await.unwrap_err();
        assert_eq!(error, AppendError::StaleEpoch { epoch: LeaderEpoch(3), current: LeaderEpoch(4) });
        assert_eq!(log.end_offset_for_epoch(LeaderEpoch(3)), Some((LeaderEpoch(2), Offset(15))));
        log.wait_synced(Offset(16)).await.unwrap();
        let slice = log.read(Offset(11), Offset(16), 1 << 20, true).await.unwrap();
        assert_eq!(batches(slice)[0].header().base_offset, 15, "the gap is stepped over");
        let far = i64::from(i32::MAX) + 15;
        assert_eq!(take(fetched(far, 4)).await.unwrap().base_offset, Offset(far));
        assert_eq!(log.segment_count(), 2, "its offset doesn't fit the 31 bits of the first segment");
        let error = take(fetched(1 << 40, 4)).await.unwrap_err();
        assert_eq!(error, AppendError::SegmentOffsetsFull);
    });
}

#[test]
fn many_wait_for_one_flush() {
    on_sim(async {
        let opened = open("/data", LogConfig::default(), LogDirConfig::default()).await;
        let done = Rc::new(Cell::new(0));
        let tasks: Vec<_> = (0..300)
            .map(|tag| {
                let (log, done) = (opened.log.clone(), done.clone());
                rt::spawn(async move {
                    for _ in 0..5 {
                        let base = append(&log, batch(tag, 1, 300, 5), 0).await;
                        log.wait_synced(base.plus(1)).await.unwrap();
                        done.set(done.get() + 1);
                    }
                })
            })
            .collect();
        let began = rt::now();
        for task in tasks {
            task.await;
        }
        assert_eq!((done.get(), opened.log.synced_offset()), (1_500, Offset(1_500)));
        let took = rt::now().saturating_since(began);
        assert!(
            took < Duration::from_millis(200),
            "1,500 acknowledgements took {took:?}: not one flush each"
        );
    });
}

#[test]
fn memory_for_what_is_not_written_is_bounded() {
    let (sim, node) = Sim::with_node(5);
    let disk = node.disk();
    sim.block_on(&node, async move {
        let dir_config =
            LogDirConfig { unplaced_bytes_max: 20_000, tail_bytes_max: 50_000, ..LogDirConfig::default() };
        let opened = open("/data", LogConfig::default(), dir_config).await;
        let log = &opened.log;
        append(log, batch(0, 1, 100, 5), 0).await;
        log.wait_synced(Offset(1)).await.unwrap();
        disk.set_latency(rt::sim::Latency { write_us: 500_000..=500_000, ..rt::sim::Latency::default() });
        let mut reserved = 0;
        while rt::timeout(Duration::from_millis(100), append(log, batch(1, 1, 4_000, 5), 0)).await.is_ok() {
            reserved += 1;
        }
        assert!((3..=9).contains(&reserved), "{reserved} batches of 4 KB were admitted");
        disk.set_latency(rt::sim::Latency::default());
        for _ in 0..100 {
            append(log, batch(1, 1, 4_000, 5), 0).await;
        }
        log.wait_synced(log.end_offset()).await.unwrap();
        append(log, batch(1, 1, 4_000, 5), 0).await;
        assert!(opened.dir.tail_bytes() < 60_000, "{} bytes are held", opened.dir.tail_bytes());
        let whole = log.reserve(50_000).await.unwrap();
        assert_eq!(whole.bytes(), 50_000, "more than the bound is admitted alone");
        let huge = log.reserve(2 << 30).await;
        assert!(matches!(huge, Err(StorageError::TooLarge { .. })));
    });
}

#[test]
fn waiters_of_what_is_cut_are_told() {
    let (sim, node) = Sim::with_node(5);
    let disk = node.disk();
    sim.block_on(&node, async move {
        let opened =
            open("/data", LogConfig { sync: false, ..LogConfig::default() }, LogDirConfig::default()).await;
        append(&opened.log, batch(0, 1, 100, 5), 0).await;
        append(&opened.log, batch(1, 1, 100, 5), 0).await;
        let log = opened.log.clone();
        let waiter = rt::spawn(async move { log.wait_synced(Offset(2)).await });
        rt::sleep(Duration::from_millis(10)).await;
        opened.log.truncate_to(Offset(1)).await.unwrap();
        assert_eq!(waiter.await, Err(WaitError::Truncated));
        let log = opened.log.clone();
        let waiter = rt::spawn(async move { log.wait_written(Offset(2)).await });
        disk.fail(FaultOp::Write, ".log", 1);
        append(&opened.log, batch(1, 1, 100, 5), 0).await;
        assert_eq!(waiter.await, Err(WaitError::Offline));
    });
}
