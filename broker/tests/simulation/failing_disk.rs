//! A disk that fails ends the node: it must not go on without its metadata log, or with a log that it can't write.

use std::time::Duration;

use protocol::messages::CreateTopicsRequest;
use protocol::messages::create_topics_request::CreatableTopic;
use rt::sim::{FaultOp, Sim};

use crate::link::Link;
use crate::node::BrokerNode;

const WITHIN: Duration = Duration::from_secs(10);

#[test]
fn a_failed_metadata_log_ends_the_node() {
    for (seed, op) in (1..).zip([FaultOp::Write, FaultOp::Sync]) {
        let sim = Sim::new(seed);
        let (broker, client) = (BrokerNode::add(&sim, &[]), sim.node("client"));
        broker.start(2);
        let address = broker.address();
        sim.run_for(Duration::from_secs(1));
        broker.machine().disk().fail(op, "ringlog-raft.log", 1);
        client
            .spawn(async move {
                let topic = CreatableTopic {
                    name: "unsure".into(),
                    num_partitions: 1,
                    replication_factor: 1,
                    ..Default::default()
                };
                let request = CreateTopicsRequest { topics: vec![topic], ..Default::default() };
                let mut link = Link::open(address, "client").await.expect("it listens");
                if let Ok(answer) = link.call(&request, i16::MAX, Duration::ZERO).await {
                    assert_ne!(answer.topics[0].error_code, 0, "it can't be made");
                }
            })
            .detach();
        let ended = sim.run_until(WITHIN, || !broker.failures().is_empty());
        assert_eq!(ended, Ok(()), "after a failed {op:?} the node goes on without a controller");
        assert_eq!(broker.failures()[0].code, 1);
    }
}
