//! Partition directories that outlive their topics.

use std::cell::Cell;
use std::time::Duration;

use protocol::messages::MetadataRequest;
use rt::sim::Latency;

use super::client::{Client, TOPIC};
use super::node::Broker;

const WITHIN: Duration = Duration::from_secs(60);

fn stop(broker: &Broker) {
    broker.stop();
    let (_, ended) = broker.ended(WITHIN);
    assert_eq!(ended, [Ok(()), Ok(())]);
}

/// Waits until it answers.
fn serves(broker: &Broker) {
    let to = broker.address();
    broker.run(async move { Client::connect(to).await.call(&MetadataRequest::default(), 9).await });
}

/// Names of the topic's partition directories, in use or kept.
fn dirs(broker: &Broker) -> Vec<String> {
    broker.disk().names("/data").into_iter().filter(|name| name.starts_with(TOPIC)).collect()
}

/// A broker killed in the middle of a deletion: the metadata say that the topic is gone, and its directories are there.
fn killed_while_deleting(seed: u64) -> Broker {
    let broker = Broker::start(seed, 2);
    let to = broker.address();
    broker.run(async move {
        let mut client = Client::connect(to).await;
        client.create_topic(2).await;
        client.produce(0, b"of the first").await;
    });
    // Names change more slowly than files are synced, so that the kill comes between.
    broker.disk().set_latency(Latency { name_us: 3_000_000..=3_000_000, ..Latency::default() });
    let deleting = broker.client.spawn(async move { Client::connect(to).await.delete_topic().await });
    broker.sim.run_for(Duration::from_secs(1));
    assert!(!deleting.is_finished());
    broker.kill();
    broker.disk().set_latency(Latency::default());
    broker
}

/// They used to stay for ever, and no later stop counted as clean.
#[test]
fn a_deletion_cut_short_by_a_kill_is_tidied_up_at_the_start() {
    let left_both = Cell::new(0);
    rt::sim::for_each_seed(20, |seed| {
        let broker = killed_while_deleting(seed);
        let both = dirs(&broker).iter().filter(|name| !name.contains('.')).count() == 2;
        left_both.set(left_both.get() + i32::from(both));
        broker.start_again();
        serves(&broker);
        let kept = dirs(&broker);
        assert!(kept.iter().all(|name| name.ends_with("-stray")), "{kept:?}");
        stop(&broker);
        assert!(broker.is_clean());
        broker.start_again();
        let to = broker.address();
        broker.run(async move {
            let mut client = Client::connect(to).await;
            client.create_topic(2).await;
            assert_eq!(client.produce(0, b"of the second").await, 0);
            assert_eq!(client.fetch(&[(0, 0)], 0).await, [[&b"of the second"[..]]]);
        });
        stop(&broker);
        assert!(broker.is_clean());
    });
    assert!(left_both.get() > 0, "no kill came before the first rename");
}

/// The directory name is the same, the topic isn't.
#[test]
fn a_topic_made_anew_gets_the_name_of_one_whose_deletion_was_cut_short() {
    rt::sim::for_each_seed(20, |seed| {
        let broker = killed_while_deleting(seed);
        broker.start_again();
        let to = broker.address();
        broker.run(async move {
            let mut client = Client::connect(to).await;
            client.create_topic(2).await;
            assert_eq!(client.produce(0, b"of the second").await, 0);
            assert_eq!(client.produce(1, b"of the second").await, 0);
        });
        broker.start_again();
        let there = broker.run(async move { Client::connect(to).await.fetch(&[(0, 0), (1, 0)], 0).await });
        assert_eq!(there, [[&b"of the second"[..]], [&b"of the second"[..]]]);
        stop(&broker);
        assert!(broker.is_clean());
    });
}

#[test]
fn a_new_metadata_log_beside_old_logs_moves_none_of_them() {
    let broker = Broker::start(1, 2);
    let to = broker.address();
    broker.run(async move {
        let mut client = Client::connect(to).await;
        client.create_topic(2).await;
        client.produce(0, b"precious").await;
    });
    stop(&broker);
    let before = dirs(&broker);
    let lost = broker.disk().names("/data").into_iter().filter(|name| name.starts_with("ringlog-raft"));
    let lost: Vec<String> = lost.collect();
    assert!(!lost.is_empty());
    broker.on_machine(async move {
        for name in lost {
            rt::fs::remove_file(format!("/data/{name}")).await.unwrap();
        }
    });
    broker.start_again();
    serves(&broker);
    assert_eq!(dirs(&broker), before);
}
