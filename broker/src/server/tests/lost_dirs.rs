//! Log directories that aren't where the node looks for them: not mounted, or in another order.

use std::time::Duration;

use rt::sim::FaultOp;

use super::client::Client;
use super::log_dirs::{
    A, B, KAFKA_STORAGE_ERROR, LEADER_NOT_AVAILABLE, WITHIN, check_all_there, describe, held, metadata,
    with_topic,
};
use super::node::Broker;

fn stop(broker: &Broker) {
    broker.stop();
    assert_eq!(broker.ended(WITHIN).1, [Ok(()), Ok(())]);
}

/// What an unmounted disk looks like.
fn take_away(broker: &Broker, dir: &'static str) {
    broker.on_machine(async move {
        rt::fs::rename(dir, format!("{dir}.away")).await.unwrap();
        rt::fs::sync_dir("/data").await.unwrap();
    });
}

fn bring_back(broker: &Broker, dir: &'static str) {
    broker.on_machine(async move {
        if rt::fs::exists(dir).await {
            rt::fs::remove_dir_all(dir).await.unwrap();
        }
        rt::fs::rename(format!("{dir}.away"), dir).await.unwrap();
        rt::fs::sync_dir("/data").await.unwrap();
    });
}

/// It can't start, for this reason.
fn check_refused(broker: &Broker, why: &str) {
    let (_, ended) = broker.ended(WITHIN);
    let failures: Vec<_> = ended.into_iter().filter_map(Result::err).collect();
    let is_told = |message: &str| message.contains(why) && message.contains("metadata log");
    assert!(
        failures.iter().any(|failure| failure.code == 78 && is_told(&failure.message)),
        "{why}: {failures:?}"
    );
}

/// Its partitions were made anew elsewhere, empty, and those counted when the disk was back.
#[test]
fn what_was_on_a_disk_that_isnt_mounted_is_offline_until_it_is() {
    for seed in 1..4 {
        let (broker, to) = with_topic(seed);
        if seed > 1 {
            stop(&broker);
        }
        take_away(&broker, B);
        // However often.
        for _ in 0..2 {
            broker.start_again();
            broker.run(async move {
                let mut client = Client::connect(to).await;
                let down = |partition| (partition, LEADER_NOT_AVAILABLE, vec![1]);
                let up = |partition| (partition, 0, vec![]);
                assert_eq!(metadata(&mut client).await, [up(0), down(1), up(2), down(3)]);
                client.post_produce(1, b"lost").await.unwrap();
                assert_ne!(client.produced().await.unwrap().1, 0);
                for partition in [0, 2] {
                    let values = client.fetch(&[(partition, 0)], 0).await;
                    assert_eq!(values, [[partition.to_string().as_bytes()]]);
                }
            });
            assert_eq!((held(&broker, A), held(&broker, B)), (vec![0, 2], vec![]));
            stop(&broker);
        }
        bring_back(&broker, B);
        broker.start_again();
        broker.run(check_all_there(to));
        assert_eq!((held(&broker, A), held(&broker, B)), (vec![0, 2], vec![1, 3]));
    }
}

#[test]
fn an_empty_directory_has_a_lost_partition_begin_anew() {
    let (broker, to) = with_topic(1);
    stop(&broker);
    take_away(&broker, B);
    broker.on_machine(async {
        rt::fs::create_dir_all("/data/a/orders-1").await.unwrap();
        rt::fs::sync_dir(A).await.unwrap();
    });
    broker.start_again();
    broker.run(async move {
        let mut client = Client::connect(to).await;
        assert_eq!(client.produce(1, b"anew").await, 0);
        let down = (3, LEADER_NOT_AVAILABLE, vec![1]);
        assert_eq!(metadata(&mut client).await[3], down);
    });
    assert_eq!((held(&broker, A), held(&broker, B)), (vec![0, 1, 2], vec![]));
}

/// The node used to start with no topic at all.
#[test]
fn a_node_doesnt_start_without_its_metadata_log() {
    const TURNED: &[(&str, &str)] = &[("log.dirs", "/data/b,/data/a")];
    const ONE_MORE: &[(&str, &str)] = &[("log.dirs", "/data/c,/data/a,/data/b")];
    const ELSEWHERE: &[(&str, &str)] = &[("log.dirs", "/data/a,/data/b"), ("metadata.log.dir", "/data/c")];
    const AS_IT_WAS: &[(&str, &str)] = &[("log.dirs", "/data/b,/data/a"), ("metadata.log.dir", "/data/a")];
    let (mut broker, to) = with_topic(1);
    for wrong in [TURNED, ONE_MORE, ELSEWHERE] {
        broker.start_again_with(wrong);
        check_refused(&broker, "there is a metadata log in /data/a");
    }
    broker.start_again_with(AS_IT_WAS);
    broker.run(check_all_there(to));
    stop(&broker);
    take_away(&broker, A);
    for _ in 0..2 {
        broker.start_again();
        check_refused(&broker, "there is no metadata log in /data/a");
    }
    bring_back(&broker, A);
    broker.start_again();
    broker.run(check_all_there(to));
}

#[test]
fn a_lost_metadata_log_is_made_anew_at_the_operators_word() {
    const ONE: &[(&str, &str)] = &[("log.dirs", "/data/a")];
    for settings in [super::log_dirs::TWO, ONE] {
        let broker = Broker::start_with(1, 2, settings);
        let to = broker.address();
        broker.run(async move { Client::connect(to).await.create_topic(2).await });
        broker.on_machine(async {
            rt::fs::remove_file("/data/a/ringlog-raft.log").await.unwrap();
            rt::fs::sync_dir(A).await.unwrap();
        });
        for _ in 0..2 {
            broker.start_again();
            check_refused(&broker, "is a disk not mounted");
        }
        broker.disk().put_file("/data/a/ringlog-raft.new", "").unwrap();
        broker.start_again();
        broker.run(async move { Client::connect(to).await.create_topic_named("other", 1).await });
        assert!(!broker.disk().names(A).contains(&"ringlog-raft.new".to_owned()));
        // Once.
        broker.on_machine(async {
            rt::fs::remove_file("/data/a/ringlog-raft.log").await.unwrap();
            rt::fs::sync_dir(A).await.unwrap();
        });
        broker.start_again();
        check_refused(&broker, "is a disk not mounted");
    }
}

/// A first start may be cut short anywhere, and isn't taken for one without its metadata.
#[test]
fn a_first_start_that_is_cut_short_is_made_up_for() {
    const METADATA_LAST: &[(&str, &str)] =
        &[("log.dirs", "/data/b,/data/a"), ("metadata.log.dir", "/data/a")];
    for settings in [super::log_dirs::TWO, METADATA_LAST] {
        for seed in 1..60 {
            let broker = Broker::start_with(seed, 2, settings);
            broker.sim.run_for(Duration::from_micros(200 * seed));
            broker.cut_power();
            broker.start_again();
            let to = broker.address();
            broker.run(async move { Client::connect(to).await.create_topic(2).await });
            assert_eq!(broker.failures(), []);
        }
    }
}

/// It used to keep the node from starting.
#[test]
fn a_directory_that_fails_while_it_is_put_in_order_is_offline() {
    let (broker, to) = with_topic(1);
    stop(&broker);
    // A copy, which is to be set aside.
    broker.on_machine(async {
        rt::fs::create_dir_all("/data/b/orders-0").await.unwrap();
        rt::fs::sync_dir(B).await.unwrap();
    });
    broker.disk().fail(FaultOp::RenameBusy, "/data/b/orders-0", u32::MAX);
    broker.start_again();
    broker.run(async move {
        let mut client = Client::connect(to).await;
        let down = |partition| (partition, LEADER_NOT_AVAILABLE, vec![1]);
        let up = |partition| (partition, 0, vec![]);
        assert_eq!(metadata(&mut client).await, [up(0), down(1), up(2), down(3)]);
        assert_eq!(describe(&mut client).await[B].error_code, KAFKA_STORAGE_ERROR);
        assert_eq!(client.produce(0, b"on").await, 1);
    });
    assert_eq!(broker.failures(), []);
    stop(&broker);
    broker.disk().clear_faults();
    broker.start_again();
    broker.run(async move {
        let mut client = Client::connect(to).await;
        assert_eq!(metadata(&mut client).await, (0..4).map(|p| (p, 0, vec![])).collect::<Vec<_>>());
        assert_eq!(client.fetch(&[(1, 0)], 0).await, [[&b"1"[..]]]);
    });
}
