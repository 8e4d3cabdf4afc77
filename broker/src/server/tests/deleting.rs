//! Topics that are deleted where their logs can't be, at first.

use std::time::Duration;

use protocol::messages::MetadataRequest;
use rt::sim::{FaultOp, Latency};

use super::client::{Client, TOPIC};
use super::node::Broker;

const WITHIN: Duration = Duration::from_secs(60);

fn with_records(seed: u64) -> Broker {
    let broker = Broker::start(seed, 2);
    let to = broker.address();
    broker.run(async move {
        let mut client = Client::connect(to).await;
        client.create_topic(2).await;
        assert_eq!(client.produce(0, b"of the first").await, 0);
    });
    broker
}

fn delete(broker: &Broker) {
    let to = broker.address();
    broker.run(async move { Client::connect(to).await.delete_topic().await });
}

/// Names of what is there of the topic.
fn dirs(broker: &Broker) -> Vec<String> {
    broker.disk().names("/data").into_iter().filter(|name| name.starts_with(TOPIC)).collect()
}

fn check_clean_stop(broker: &Broker) {
    broker.stop();
    let (_, ended) = broker.ended(WITHIN);
    assert_eq!(ended, [Ok(()), Ok(())]);
    assert!(broker.is_clean());
}

/// It used to be tried once: the directories stayed until a topic of that name was made.
#[test]
fn what_a_full_disk_keeps_is_deleted_later() {
    rt::sim::for_each_seed(10, |seed| {
        let broker = with_records(seed);
        broker.disk().fail(FaultOp::Rename, TOPIC, u32::MAX);
        delete(&broker);
        broker.sim.run_for(Duration::from_secs(20));
        assert_eq!(dirs(&broker), ["orders-0", "orders-1"]);
        broker.disk().clear_faults();
        broker.sim.run_for(WITHIN);
        assert_eq!(dirs(&broker), [""; 0]);
        check_clean_stop(&broker);
    });
}

/// It used to be served only once something else had deleted the old log, which nothing did.
#[test]
fn a_topic_made_anew_takes_the_place_of_a_log_that_outlived_its_topic() {
    rt::sim::for_each_seed(10, |seed| {
        let broker = with_records(seed);
        broker.disk().fail(FaultOp::Rename, TOPIC, u32::MAX);
        delete(&broker);
        broker.disk().clear_faults();
        let to = broker.address();
        let there = broker.run(async move {
            let mut client = Client::connect(to).await;
            client.create_topic(2).await;
            assert_eq!(client.produce(0, b"of the second").await, 0);
            // Whoever tries the deletion again must leave this one alone.
            rt::sleep(WITHIN).await;
            client.fetch(&[(0, 0), (1, 0)], 0).await
        });
        assert_eq!(there, [vec![&b"of the second"[..]], vec![]]);
        check_clean_stop(&broker);
    });
}

/// The directory of a log that couldn't be opened used to stay, and no later stop counted as clean.
#[test]
fn a_topic_whose_log_could_not_be_opened_is_deleted_whole() {
    rt::sim::for_each_seed(10, |seed| {
        let broker = with_records(seed);
        broker.kill();
        broker.disk().fail(FaultOp::Read, "orders-0/00000000000000000000.log", u32::MAX);
        broker.start_again();
        let to = broker.address();
        broker.run(async move { Client::connect(to).await.call(&MetadataRequest::default(), 9).await });
        delete(&broker);
        broker.disk().clear_faults();
        broker.sim.run_for(WITHIN);
        assert_eq!(dirs(&broker), [""; 0]);
        check_clean_stop(&broker);
    });
}

/// The same, where the deletion comes while the log is being opened for another try.
#[test]
fn a_topic_deleted_while_its_log_is_opened_is_deleted_whole() {
    rt::sim::for_each_seed(20, |seed| {
        let broker = with_records(seed);
        broker.kill();
        broker.disk().fail(FaultOp::Read, "orders-0/00000000000000000000.log", u32::MAX);
        broker.start_again();
        let to = broker.address();
        broker.run(async move { Client::connect(to).await.call(&MetadataRequest::default(), 9).await });
        // The next try is a second after the start, and takes its time.
        broker.disk().clear_faults();
        broker.disk().set_latency(Latency { read_us: 1_000_000..=1_000_000, ..Latency::default() });
        broker.sim.run_for(Duration::from_millis(1_000 + broker.sim.choose(1_500)));
        delete(&broker);
        broker.sim.run_for(WITHIN);
        assert_eq!(dirs(&broker), [""; 0]);
        check_clean_stop(&broker);
    });
}
