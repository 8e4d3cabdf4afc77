//! What a producer is told of a batch that it sends again.
#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

use std::rc::Rc;
use std::time::Duration;

use protocol::error::ErrorCode;
use protocol::records::{BatchBuilder, RecordBatch};
use protocol::types::Uuid;
use rt::sim::Sim;
use shards::{Appended, Partition, PartitionKey, Traffic};
use storage::{
    DirHome, HomeConfig, LeaderEpoch, LogConfig, LogDir, LogDirConfig, TimestampSource, TopicPartition,
};

const PRODUCED_MS: i64 = 1_700_000_000_000;
const APPENDED_MS: i64 = 1_800_000_000_000;

/// What a batch is answered, and what its second copy is, which comes a second later.
async fn append_twice(config: LogConfig) -> [Appended; 2] {
    let (_home, facts) = DirHome::open("/data", HomeConfig { node_id: 1, cluster_id: None }).await.unwrap();
    let dir = LogDir::open("/data", facts, LogDirConfig::default()).await.unwrap();
    let key = PartitionKey { topic_id: Uuid([3; 16]), partition: 0 };
    let log = dir.create_log(TopicPartition::new("orders", 0), key.topic_id, config).await.unwrap();
    let partition = Partition::lead(key, log, LeaderEpoch(1), Rc::new(Traffic::default()));
    let mut builder = BatchBuilder::new().producer(7, 0, 0);
    (0..3).for_each(|at| builder.push(PRODUCED_MS + at, None, Some(b"value"), &[]));
    let batch = RecordBatch::parse(builder.build().unwrap()).unwrap();
    let first = partition.append(&batch, batch.total_bytes(), APPENDED_MS).await.unwrap();
    let second = partition.append(&batch, batch.total_bytes(), APPENDED_MS + 1_000).await.unwrap();
    assert_eq!(first.base_offset, second.base_offset);
    [first, second]
}

/// It used to be refused: its producer reported as lost what is in the log.
#[test]
fn a_duplicate_is_answered_on_a_full_disk_too() {
    let (sim, node) = Sim::with_node(5);
    let disk = node.disk();
    sim.block_on(&node, async move {
        let (_home, facts) =
            DirHome::open("/data", HomeConfig { node_id: 1, cluster_id: None }).await.unwrap();
        let dir = LogDir::open("/data", facts, LogDirConfig::default()).await.unwrap();
        let key = PartitionKey { topic_id: Uuid([3; 16]), partition: 0 };
        let name = TopicPartition::new("orders", 0);
        let log = dir.create_log(name, key.topic_id, LogConfig::default()).await.unwrap();
        let partition = Partition::lead(key, log.clone(), LeaderEpoch(1), Rc::new(Traffic::default()));
        let batch = |sequence| {
            let mut builder = BatchBuilder::new().producer(7, 0, sequence);
            builder.push(PRODUCED_MS, None, Some(b"value"), &[]);
            RecordBatch::parse(builder.build().unwrap()).unwrap()
        };
        let bytes = batch(0).total_bytes();
        let first = partition.append(&batch(0), bytes, APPENDED_MS).await.unwrap();
        disk.set_capacity(Some(0));
        rt::sleep(Duration::from_millis(1_100)).await;
        assert!(log.refuses_writes());
        let second = partition.append(&batch(0), bytes, APPENDED_MS).await.unwrap();
        assert_eq!(first.base_offset, second.base_offset);
        let refused = partition.append(&batch(1), bytes, APPENDED_MS).await.unwrap_err();
        assert_eq!(refused.code, ErrorCode::KAFKA_STORAGE_ERROR);
    });
}

/// It used to be -1, by which a client takes its own time for the records'.
#[test]
fn a_duplicate_is_answered_with_the_time_that_the_broker_gave_the_first_copy() {
    let (sim, node) = Sim::with_node(5);
    let told = sim.block_on(
        &node,
        append_twice(LogConfig { timestamps: TimestampSource::LogAppendTime, ..LogConfig::default() }),
    );
    assert_eq!(told.map(|one| one.append_time_ms), [APPENDED_MS, APPENDED_MS]);
}

/// So does Kafka, though on such a topic it tells no time for the first copy.
#[test]
fn a_duplicate_is_answered_with_the_producers_largest_time_if_the_records_keep_it() {
    let (sim, node) = Sim::with_node(5);
    let told = sim.block_on(&node, append_twice(LogConfig::default()));
    assert_eq!(told.map(|one| one.append_time_ms), [-1, PRODUCED_MS + 2]);
}
