//! A node that starts on a disk without a free byte.

use std::net::SocketAddr;
use std::time::Duration;

use super::client::Client;
use super::node::{Broker, Shards};

const WITHIN: Duration = Duration::from_secs(60);
const KAFKA_STORAGE_ERROR: i16 = 56;

/// Leaves no byte free, also not when small files go; what was allocated before can still be written to.
fn fill(broker: &Broker) {
    const MUCH: u64 = 1 << 40;
    let disk = broker.disk();
    disk.set_capacity(Some(MUCH));
    disk.set_capacity(Some(MUCH - disk.free_bytes() - (64 << 10)));
}

/// A node of two shards whose topic holds "before", and its address.
fn with_one_record(seed: u64) -> (Broker, SocketAddr) {
    let broker = Broker::start(seed, 2);
    let to = broker.address();
    broker.run(async move {
        let mut client = Client::connect(to).await;
        client.create_topic(2).await;
        assert_eq!(client.produce(0, b"before").await, 0);
    });
    (broker, to)
}

#[test]
fn it_serves_reads_and_refuses_writes_until_there_is_space() {
    rt::sim::for_each_seed(20, |seed| {
        let (broker, to) = with_one_record(seed);
        if seed % 2 == 0 {
            broker.stop();
            broker.ended(WITHIN);
        }
        broker.kill();
        fill(&broker);
        broker.start_again();
        broker.sim.run_for(Duration::from_secs(5));
        assert_eq!(broker.failures(), []);
        // The journal that a kill leaves is free space once it is replayed.
        fill(&broker);
        broker.run(async move {
            let mut client = Client::connect(to).await;
            assert_eq!(client.fetch(&[(0, 0)], 0).await, [[&b"before"[..]]]);
            client.post_produce(1, &[b'.'; 200_000]).await.unwrap();
            let (_, code, _) = client.produced().await.expect("an answer");
            assert_eq!(code, KAFKA_STORAGE_ERROR);
        });
        broker.disk().set_capacity(None);
        // It looks at the disk each second.
        broker.sim.run_for(Duration::from_secs(2));
        broker.run(async move {
            let mut client = Client::connect(to).await;
            assert_eq!(client.produce(1, &[b'.'; 200_000]).await, 0);
            assert_eq!(client.fetch(&[(0, 0)], 0).await, [[&b"before"[..]]]);
        });
        broker.stop();
        let (_, ended) = broker.ended(WITHIN);
        assert_eq!(ended, [Ok(()), Ok(())]);
        assert!(broker.is_clean());
    });
}

/// A stop on a full disk used to give away the space that the next start needs.
#[test]
fn it_starts_again_after_a_stop_on_a_full_disk() {
    rt::sim::for_each_seed(10, |seed| {
        let (broker, to) = with_one_record(seed);
        broker.stop();
        broker.ended(WITHIN);
        for _ in 0..3 {
            // Somebody else takes what the stop freed.
            broker.kill();
            fill(&broker);
            broker.start_again();
            broker.sim.run_for(Duration::from_secs(5));
            assert_eq!(broker.failures(), []);
            broker.run(async move {
                let mut client = Client::connect(to).await;
                assert_eq!(client.fetch(&[(0, 0)], 0).await, [[&b"before"[..]]]);
            });
            // Whether it is clean or not.
            broker.stop();
            broker.ended(WITHIN);
        }
    });
}

/// The node's own writes, reads and deletions go on, and so do writes once there is room.
#[test]
fn a_disk_that_is_full_enough_refuses_what_producers_send() {
    rt::sim::for_each_seed(10, |seed| {
        let enough = ("ringlog.disk.enough.bytes", "9223372036854775807");
        let shards = Shards::start(seed, 2, &[("ringlog.disk.full.percent", "90"), enough]);
        let to = shards.address(0);
        shards.run(async move {
            let mut client = Client::connect(to).await;
            client.create_topic(2).await;
            assert_eq!(client.produce(0, b"before").await, 0);
        });
        let disk = shards.disk();
        let used_bytes = {
            const MUCH: u64 = 1 << 40;
            disk.set_capacity(Some(MUCH));
            MUCH - disk.free_bytes()
        };
        disk.set_capacity(Some(used_bytes + used_bytes / 20));
        shards.sim.run_for(Duration::from_secs(2));
        let produced = async move || {
            let mut client = Client::connect(to).await;
            client.post_produce(1, b"more").await.unwrap();
            client.produced().await.expect("an answer").1
        };
        shards.run(async move {
            assert_eq!(produced().await, KAFKA_STORAGE_ERROR);
            let mut client = Client::connect(to).await;
            assert_eq!(client.fetch(&[(0, 0)], 0).await, [[&b"before"[..]]]);
            client.create_topic_named("another", 1).await;
            client.delete_topic().await;
            client.create_topic(2).await;
            assert_eq!(produced().await, KAFKA_STORAGE_ERROR);
        });
        disk.set_capacity(Some(used_bytes * 4));
        shards.sim.run_for(Duration::from_secs(2));
        shards.run(async move { assert_eq!(produced().await, 0) });
    });
}
