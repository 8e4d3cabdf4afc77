//! The first batches for a new topic, sent as soon as metadata tell of it, and all at once.

use std::net::SocketAddr;
use std::time::Duration;

use protocol::messages::create_topics_request::CreatableTopic;
use protocol::messages::metadata_request::MetadataRequestTopic;
use protocol::messages::produce_request::{PartitionProduceData, TopicProduceData};
use protocol::messages::{CreateTopicsRequest, MetadataRequest, ProduceRequest};
use protocol::records::Compression;
use protocol::types::{Str, Uuid};
use rt::sim::Sim;

use crate::batch::{RecordId, make};
use crate::link::Link;
use crate::node::BrokerNode;

const SEEDS: u64 = 10;
const BATCHES: i32 = 3;
/// More than any other topic of the test, so that leading them takes its time.
const PARTITIONS: i32 = 12;

async fn create(broker: SocketAddr) {
    let topic = CreatableTopic {
        name: "new".into(),
        num_partitions: PARTITIONS,
        replication_factor: 1,
        ..Default::default()
    };
    let request = CreateTopicsRequest { topics: vec![topic], ..Default::default() };
    let mut link = Link::open(broker, "admin").await.expect("it listens");
    let made = link.call(&request, i16::MAX, Duration::ZERO).await.expect("it answers");
    assert_eq!(made.topics[0].error_code, 0);
}

/// Asks until the topic is told of.
async fn told_of(link: &mut Link) -> Uuid {
    let topic = MetadataRequestTopic { name: Some(Str::from_static("new")), ..Default::default() };
    let request =
        MetadataRequest { topics: Some(vec![topic]), allow_auto_topic_creation: false, ..Default::default() };
    loop {
        let metadata = link.call(&request, i16::MAX, Duration::ZERO).await.expect("it answers");
        match metadata.topics[0].error_code {
            0 => return metadata.topics[0].topic_id,
            _ => rt::yield_point().await,
        }
    }
}

/// A batch to each partition.
fn request(topic_id: Uuid, nth: i32) -> ProduceRequest {
    let data = |index: i32| {
        let first = RecordId { producer: index as u16, number: nth as u64 };
        let records = Some(make(first, 1, 20, Compression::None, (4_000, 0, nth)));
        PartitionProduceData { index, records, ..Default::default() }
    };
    let partition_data = (0..PARTITIONS).map(data).collect();
    let topic = TopicProduceData { name: "new".into(), topic_id, partition_data, ..Default::default() };
    ProduceRequest {
        acks: -1,
        timeout_ms: 1_000,
        topic_data: vec![topic],
        transactional_id: None,
        ..Default::default()
    }
}

async fn produce(broker: SocketAddr) {
    let mut link = Link::open(broker, "producer").await.expect("it listens");
    let topic_id = told_of(&mut link).await;
    for nth in 0..BATCHES {
        link.send(&request(topic_id, nth), i16::MAX, Duration::ZERO).await.expect("it takes them");
    }
    for nth in 0..BATCHES {
        let answer = link.answer().await.expect("it answers").decode::<ProduceRequest>().expect("a produce");
        for partition in &answer.responses[0].partition_responses {
            let (code, offset) = (partition.error_code, partition.base_offset);
            assert_eq!((code, offset), (0, i64::from(nth)), "batch {nth} for {}", partition.index);
        }
    }
}

/// A shard that knows the topic already may ask one that hasn't opened its logs yet. Refusing the first batch there and taking the second
/// would leave the first without a place, as an unknown producer may start with any sequence.
#[test]
fn are_taken_in_order() {
    for seed in 0..SEEDS {
        let sim = Sim::new(seed);
        let (broker, client, admin) = (BrokerNode::add(&sim, &[]), sim.node("client"), sim.node("admin"));
        broker.start(3);
        let address = broker.address();
        sim.run_for(Duration::from_secs(1));
        admin.spawn(create(address)).detach();
        sim.block_on(&client, produce(address));
    }
}
