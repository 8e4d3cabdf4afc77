//! The append path of one partition: reserve space, give offsets, take into the tail.
//!
//! On the simulated runtime, whose disk writes nothing, so that what is timed is our own work: `reserve and
//! append` is what happens before an acks=1 produce waits, `and wait until written` adds the flush that
//! acknowledges it (the simulator's share in that is not small).
#![allow(
    clippy::disallowed_types,
    clippy::disallowed_methods,
    reason = "time is taken outside of the simulation"
)]

mod support;

use std::time::{Duration, Instant};

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use protocol::records::{Compression, RecordBatch};
use protocol::types::Uuid;
use rt::sim::Sim;
use storage::{DirHome, HomeConfig, LeaderEpoch, Log, LogConfig, LogDir, LogDirConfig, TopicPartition};

/// Appends between two waits: what is unplaced stays small.
const GROUP: u64 = 16;

struct Opened {
    dir: LogDir,
    home: DirHome,
    log: Log,
}

async fn open() -> Opened {
    let config = HomeConfig { node_id: 1, cluster_id: None };
    let (home, facts) = DirHome::open("/data", config).await.expect("an empty disk");
    let dir = LogDir::open("/data", facts, LogDirConfig::default()).await.expect("an empty directory");
    // Small segments: the simulated disk keeps all of them.
    let config = LogConfig { sync: false, segment_bytes: 64 << 20, ..LogConfig::default() };
    let log =
        dir.create_log(TopicPartition::new("orders", 0), Uuid([3; 16]), config).await.expect("a new log");
    home.begin_use().await.expect("nobody else uses it");
    Opened { dir, home, log }
}

async fn append(log: &Log, batch: &RecordBatch) {
    let reservation = log.reserve_batch(batch).await.expect("there is room");
    log.append(reservation, batch.clone(), LeaderEpoch(0), support::NOW_MS).expect("it is valid");
}

/// Time of `count` appends; waiting for the writes isn't counted unless asked for.
fn timed(count: u64, records: u32, wait: bool) -> Duration {
    let (sim, node) = Sim::with_node(1);
    sim.set_step_budget(u64::MAX);
    let batch =
        RecordBatch::parse(support::batch(records, 100, Compression::None)).expect("it was built here");
    sim.block_on(&node, async move {
        let Opened { dir, home, log } = open().await;
        let mut took = Duration::ZERO;
        let mut left = count;
        while left > 0 {
            let begin = Instant::now();
            for _ in 0..left.min(GROUP) {
                append(&log, &batch).await;
            }
            took += begin.elapsed();
            left -= left.min(GROUP);
            let waiting = Instant::now();
            log.wait_written(log.end_offset()).await.expect("the disk is well");
            if wait {
                took += waiting.elapsed();
            }
        }
        drop((log, dir, home));
        took
    })
}

fn appending(c: &mut Criterion) {
    let mut group = c.benchmark_group("append");
    group.sample_size(10).warm_up_time(Duration::from_millis(500)).measurement_time(Duration::from_secs(2));
    for records in [1, 100, 600] {
        group.throughput(Throughput::Elements(u64::from(records)));
        group.bench_function(format!("reserve and append, {records} records"), |b| {
            b.iter_custom(|count| timed(count, records, false));
        });
        group.bench_function(format!("and wait until written, {records} records"), |b| {
            b.iter_custom(|count| timed(count, records, true));
        });
    }
    group.finish();
}

criterion_group!(benches, appending);
criterion_main!(benches);
