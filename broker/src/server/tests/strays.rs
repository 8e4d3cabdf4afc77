//! Partition directories that outlive their topics.

use std::cell::Cell;
use std::time::Duration;

use bytes::Bytes;
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

/// The metadata log's files, to bring back later.
fn metadata_log(broker: &Broker) -> Vec<(String, Bytes)> {
    let disk = broker.disk();
    let names = disk.names("/data").into_iter().filter(|name| name.starts_with("ringlog-raft"));
    names.map(|name| (name.clone(), disk.read_file(format!("/data/{name}")).unwrap())).collect()
}

/// Puts these in place of those there are. The node doesn't run.
fn replace_metadata_log(broker: &Broker, files: &[(String, Bytes)]) {
    let now = metadata_log(broker);
    assert!(!now.is_empty());
    broker.on_machine(async move {
        for (name, _) in now {
            rt::fs::remove_file(format!("/data/{name}")).await.unwrap();
        }
    });
    for (name, content) in files {
        broker.disk().put_file(format!("/data/{name}"), content.clone()).unwrap();
    }
}

fn make_topic(broker: &Broker) {
    let to = broker.address();
    broker.run(async move {
        let mut client = Client::connect(to).await;
        client.create_topic(2).await;
        client.produce(0, b"precious").await;
    });
}

/// With the metadata log lost, or an older copy of it, nothing moves, however often the node is started; and with the right one back all is there.
fn check_without_right_metadata_log(broker: &Broker, wrong: &[(String, Bytes)]) {
    let (before, right) = (dirs(broker), metadata_log(broker));
    replace_metadata_log(broker, wrong);
    if wrong.is_empty() {
        // Without a word a lost one isn't made anew.
        broker.disk().put_file("/data/ringlog-raft.new", Bytes::new()).unwrap();
    }
    for _ in 0..3 {
        broker.start_again();
        serves(broker);
        assert_eq!(dirs(broker), before);
        stop(broker);
        assert!(broker.is_clean());
    }
    replace_metadata_log(broker, &right);
    broker.start_again();
    let to = broker.address();
    let there = broker.run(async move { Client::connect(to).await.fetch(&[(0, 0)], 0).await });
    assert_eq!(there, [[&b"precious"[..]]]);
    stop(broker);
}

/// The second start used to take the new metadata log at its word, and renamed all logs.
#[test]
fn a_new_metadata_log_beside_old_logs_moves_none_of_them() {
    for killed in [false, true] {
        let broker = Broker::start(1, 2);
        make_topic(&broker);
        if killed {
            broker.kill()
        } else {
            stop(&broker)
        }
        check_without_right_metadata_log(&broker, &[]);
    }
}

#[test]
fn an_older_metadata_log_beside_newer_logs_moves_none_of_them() {
    for killed in [false, true] {
        let broker = Broker::start(1, 2);
        serves(&broker);
        stop(&broker);
        let older = metadata_log(&broker);
        broker.start_again();
        make_topic(&broker);
        if killed {
            broker.kill()
        } else {
            stop(&broker)
        }
        check_without_right_metadata_log(&broker, &older);
    }
}
