//! Offsets of a topic whose deletion a kill cut short.

use std::time::Duration;

use protocol::messages::offset_commit_request::{OffsetCommitRequestPartition, OffsetCommitRequestTopic};
use protocol::messages::offset_fetch_request::OffsetFetchRequestGroup;
use protocol::messages::{FindCoordinatorRequest, OffsetCommitRequest, OffsetFetchRequest};
use protocol::types::Str;
use rt::sim::Latency;

use super::client::{Client, TOPIC};
use super::node::Broker;

const GROUP: &str = "billing";

async fn commit(client: &mut Client, topic: &'static str) {
    let find = FindCoordinatorRequest { key: Str::from_static(GROUP), ..Default::default() };
    while client.call(&find, 3).await.error_code != 0 {
        rt::sleep(Duration::from_millis(100)).await;
    }
    let partition = OffsetCommitRequestPartition { committed_offset: 7, ..Default::default() };
    let topic = OffsetCommitRequestTopic {
        name: Str::from_static(topic),
        partitions: vec![partition],
        ..Default::default()
    };
    let request = OffsetCommitRequest {
        group_id: Str::from_static(GROUP),
        generation_id_or_member_epoch: -1,
        topics: vec![topic],
        ..Default::default()
    };
    // Until the coordinator has loaded.
    while client.call(&request, 8).await.topics[0].partitions[0].error_code != 0 {
        rt::sleep(Duration::from_millis(100)).await;
    }
}

/// Names of the topics that the group has offsets of.
async fn committed(client: &mut Client) -> Vec<String> {
    let group = OffsetFetchRequestGroup {
        group_id: Str::from_static(GROUP),
        topics: None,
        member_epoch: -1,
        ..Default::default()
    };
    let request = OffsetFetchRequest { groups: vec![group], ..Default::default() };
    loop {
        let response = client.call(&request, 8).await;
        if response.groups[0].error_code == 0 {
            return response.groups[0].topics.iter().map(|topic| topic.name.to_string()).collect();
        }
        rt::sleep(Duration::from_millis(100)).await;
    }
}

/// They used to stay until they expired, and a topic made anew showed them again where they didn't tell the topic's id.
#[test]
fn they_go_after_the_restart_and_others_stay() {
    rt::sim::for_each_seed(10, |seed| {
        let broker = Broker::start(seed, 2);
        let to = broker.address();
        broker.run(async move {
            let mut client = Client::connect(to).await;
            client.create_topic(2).await;
            client.create_topic_named("other", 1).await;
            commit(&mut client, TOPIC).await;
            commit(&mut client, "other").await;
            assert_eq!(committed(&mut client).await, [TOPIC, "other"]);
        });
        // The kill comes after the deletion is committed, while its directories are being renamed.
        broker.disk().set_latency(Latency { name_us: 3_000_000..=3_000_000, ..Latency::default() });
        let deleting = broker.client.spawn(async move { Client::connect(to).await.delete_topic().await });
        broker.sim.run_for(Duration::from_secs(1));
        drop(deleting);
        broker.kill();
        broker.disk().set_latency(Latency::default());
        for _ in 0..2 {
            broker.start_again();
            broker.run(async move {
                let mut client = Client::connect(to).await;
                committed(&mut client).await;
                rt::sleep(Duration::from_secs(5)).await;
                assert_eq!(committed(&mut client).await, ["other"]);
            });
        }
    });
}

/// An older copy of the metadata log knows nothing of the topic: its offsets used to be dropped for good.
#[test]
fn those_of_a_topic_that_is_merely_unknown_stay() {
    let broker = Broker::start(1, 2);
    let to = broker.address();
    let stop = |broker: &Broker| {
        broker.stop();
        assert_eq!(broker.ended(Duration::from_secs(60)).1, [Ok(()), Ok(())]);
    };
    broker.run(async move {
        let mut client = Client::connect(to).await;
        client.create_topic_named("other", 1).await;
        commit(&mut client, "other").await;
    });
    stop(&broker);
    let names = broker.disk().names("/data").into_iter().filter(|name| name.starts_with("ringlog-raft"));
    let paths: Vec<String> = names.map(|name| format!("/data/{name}")).collect();
    let older: Vec<_> = paths.iter().map(|path| broker.disk().read_file(path).unwrap()).collect();
    broker.start_again();
    broker.run(async move {
        let mut client = Client::connect(to).await;
        client.create_topic(2).await;
        commit(&mut client, TOPIC).await;
    });
    stop(&broker);
    broker.kill();
    for (path, content) in paths.iter().zip(older) {
        broker.disk().put_file(path, content).unwrap();
    }
    broker.start_again();
    broker.run(async move {
        let mut client = Client::connect(to).await;
        committed(&mut client).await;
        rt::sleep(Duration::from_secs(5)).await;
        assert_eq!(committed(&mut client).await, [TOPIC, "other"]);
    });
}
