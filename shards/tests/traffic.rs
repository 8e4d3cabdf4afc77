//! What a partition counts of what goes in.
#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

use std::rc::Rc;

use protocol::records::{BatchBuilder, RecordBatch};
use protocol::types::Uuid;
use rt::sim::Sim;
use shards::{Partition, PartitionKey, Traffic};
use storage::{DirHome, HomeConfig, LeaderEpoch, LogConfig, LogDir, LogDirConfig, TopicPartition};

const TOPIC_ID: Uuid = Uuid([3; 16]);

async fn partitions(traffic: &Rc<Traffic>) -> (LogDir, Vec<Partition>) {
    let (_home, facts) = DirHome::open("/data", HomeConfig { node_id: 1, cluster_id: None }).await.unwrap();
    let dir = LogDir::open("/data", facts, LogDirConfig::default()).await.unwrap();
    let mut partitions = Vec::new();
    for partition in 0..2 {
        let name = TopicPartition::new("orders", partition);
        let log = dir.create_log(name, TOPIC_ID, LogConfig::default()).await.unwrap();
        let key = PartitionKey { topic_id: TOPIC_ID, partition };
        partitions.push(Partition::lead(key, log, LeaderEpoch(1), Rc::clone(traffic)));
    }
    (dir, partitions)
}

/// A batch of `count` records of producer 7.
fn batch(count: u32, sequence: i32) -> RecordBatch {
    let mut builder = BatchBuilder::new().producer(7, 0, sequence);
    (0..count).for_each(|_| builder.push(0, None, Some(b"value"), &[]));
    RecordBatch::parse(builder.build().unwrap()).unwrap()
}

#[test]
fn batches_count_once_and_those_refused_not_at_all() {
    let (sim, node) = Sim::with_node(5);
    sim.block_on(&node, async {
        let traffic = Rc::new(Traffic::default());
        let (_dir, partitions) = partitions(&traffic).await;
        let (first, second) = (batch(3, 0), batch(2, 3));
        let bytes = (first.total_bytes() + second.total_bytes()) as u64;
        for batch in [&first, &second, &second] {
            partitions[0].append(batch, batch.total_bytes(), 0).await.unwrap();
        }
        assert_eq!(
            (traffic.records_in.get(), traffic.bytes_in.get()),
            (5, bytes),
            "the duplicate is no traffic"
        );
        let gap = batch(1, 99);
        partitions[0].append(&gap, gap.total_bytes(), 0).await.unwrap_err();
        assert_eq!(traffic.records_in.get(), 5, "nor is what was refused");
        partitions[1].append(&first, first.total_bytes(), 0).await.unwrap();
        assert_eq!(traffic.records_in.get(), 8, "partitions of a topic count together");
        assert_eq!((traffic.records_out.get(), traffic.bytes_out.get()), (0, 0));
    });
}
