//! The index of aborted transactions, which Kafka made, through compaction: as long as it needs to be there for Kafka.
#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

mod common;
mod keyed;

use std::time::Duration;

use bytes::{BufMut, BytesMut};
use keyed::{close_segment, offsets};
use protocol::records::{BatchBuilder, RecordBatch};
use rt::sim::{Crash, Node, Sim};
use storage::inspect::{AbortedTxn, txn_index};
use storage::{CleanerConfig, Log, LogConfig, LogDirConfig, Offset};

const PRODUCER: i64 = 100;

async fn open() -> common::Open {
    let config = LogConfig { segment_bytes: 20_000, tail_bytes_max: 0, ..keyed::config(0) };
    common::open("/data", config, LogDirConfig::default()).await
}

/// A batch of records with these keys.
fn records(mut batch: BatchBuilder, keys: &str) -> BatchBuilder {
    for key in keys.chars() {
        batch.push(rt::unix_ms(), Some(key.to_string().as_bytes()), Some(b"value"), &[]);
    }
    batch
}

async fn append(log: &Log, batch: BatchBuilder) {
    common::append(log, RecordBatch::parse(batch.build().unwrap()).unwrap(), 0).await;
}

/// A segment with an aborted transaction at 3 and 4, whose marker stands at 5, and Kafka's index of it.
async fn aborted(node: &Node, log: &Log) {
    append(log, records(BatchBuilder::new(), "aa")).await;
    append(log, records(BatchBuilder::new(), "b")).await;
    append(log, records(BatchBuilder::new().producer(PRODUCER, 0, 0).transactional(true), "ab")).await;
    append(log, BatchBuilder::end_txn_marker(PRODUCER, 0, false, 0, rt::unix_ms())).await;
    close_segment(log).await;
    put(node, 0, &[ABORTED]);
}

async fn compact(log: &Log, map_bytes: usize) {
    let cleaner = CleanerConfig { map_bytes, ..CleanerConfig::default() };
    log.compact(cleaner, log.durable_offset()).await.unwrap().unwrap();
}

const ABORTED: AbortedTxn = AbortedTxn {
    producer_id: PRODUCER,
    first_offset: Offset(3),
    last_offset: Offset(5),
    last_stable_offset: Offset(6),
};

fn path(base: i64) -> String {
    format!("/data/orders-0/{base:020}.txnindex")
}

/// As Kafka writes it.
fn put(node: &Node, base: i64, entries: &[AbortedTxn]) {
    let mut file = BytesMut::new();
    for entry in entries {
        file.put_i16(0);
        let offsets = [entry.first_offset, entry.last_offset, entry.last_stable_offset];
        file.put_i64(entry.producer_id);
        offsets.iter().for_each(|offset| file.put_i64(offset.0));
    }
    node.disk().put_file(path(base), file.freeze()).unwrap();
}

fn read(node: &Node, base: i64) -> Option<Vec<AbortedTxn>> {
    node.disk().read_file(path(base)).ok().map(|file| txn_index(&file).unwrap())
}

/// Without it Kafka would hand out the aborted records that the pass didn't come to.
#[test]
fn aborted_transactions_stay_known_as_long_as_their_records_may_be_there() {
    let (sim, node) = Sim::with_node(1);
    let work = node.clone();
    sim.block_on(&node, async move {
        let opened = open().await;
        let log = &opened.log;
        aborted(&work, log).await;
        // One key a pass: it ends before the transaction.
        compact(log, 0).await;
        assert_eq!((offsets(log).await, log.cleaned_offset()), (vec![1, 2, 3, 4], Some(Offset(2))));
        assert_eq!(read(&work, 0), Some(vec![ABORTED]));
        // The records go, and with the next pass what tells of them.
        compact(log, 1 << 20).await;
        assert_eq!((offsets(log).await, read(&work, 0)), (vec![1, 2], Some(vec![ABORTED])));
        // The producer's last batch stayed, without records, until now.
        for (sequence, key) in [(2, "c"), (3, "d")] {
            append(log, records(BatchBuilder::new().producer(PRODUCER, 0, sequence), key)).await;
            close_segment(log).await;
            assert_eq!(read(&work, 0), Some(vec![ABORTED]));
            compact(log, 1 << 20).await;
        }
        assert_eq!((offsets(log).await, read(&work, 0)), (vec![1, 2, 6, 7], None));
        opened.close().await;
    });
}

#[test]
fn a_crash_in_a_replacement_keeps_the_aborted_transactions() {
    let mut met = 0;
    for seed in 0..400 {
        let (sim, node) = Sim::with_node(seed);
        let work = node.clone();
        let passing = node.spawn(async move {
            let opened = open().await;
            aborted(&work, &opened.log).await;
            rt::sleep(Duration::from_secs(1)).await;
            compact(&opened.log, 0).await;
            rt::sleep(Duration::from_secs(1)).await;
        });
        let names = || node.disk().names("/data/orders-0");
        while !names().iter().any(|name| name.ends_with(".index.swap")) {
            sim.run_steps(1);
        }
        sim.run_steps(sim.choose(40));
        node.crash(if seed % 2 == 0 { Crash::Kill } else { Crash::PowerCut });
        drop(passing);
        met += u32::from(names().iter().any(|name| name.ends_with(".log.swap")));
        let work = node.clone();
        sim.block_on(&node, async move {
            let opened = open().await;
            let left = offsets(&opened.log).await;
            assert!([vec![0, 1, 2, 3, 4], vec![1, 2, 3, 4]].contains(&left), "{seed}: {left:?}");
            assert_eq!(read(&work, 0), Some(vec![ABORTED]), "{seed}");
            let names = work.disk().names("/data/orders-0");
            assert!(!names.iter().any(|name| name.ends_with(".swap")), "{seed}: {names:?}");
        });
    }
    assert!(met > 20, "{met} crashes met a decided replacement");
}

#[test]
fn an_index_that_is_damaged_is_left_as_it_is() {
    let (sim, node) = Sim::with_node(1);
    let work = node.clone();
    sim.block_on(&node, async move {
        let opened = open().await;
        let log = &opened.log;
        for _ in 0..2 {
            append(log, records(BatchBuilder::new(), "aa")).await;
            close_segment(log).await;
        }
        work.disk().put_file(path(2), "rubbish").unwrap();
        let damaged = log.compact(CleanerConfig::default(), log.durable_offset()).await;
        assert!(damaged.unwrap_err().to_string().contains("txnindex"));
        assert_eq!(offsets(log).await, [0, 1, 2, 3]);
    });
}
