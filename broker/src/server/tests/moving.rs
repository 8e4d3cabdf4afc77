//! Moves between log directories that meet a failure when they are nearly at their end.

use std::net::SocketAddr;
use std::time::Duration;

use rt::sim::{FaultOp, Latency};

use super::client::{Client, TOPIC};
use super::log_dirs::{
    A, B, LEADER_NOT_AVAILABLE, TWO, alter, await_moved, held, metadata, set_rate, with_topic,
};
use super::node::{Broker, Shards};

/// It serves from where it was, and a start finds it there.
fn check_still_in_a(broker: &Broker, to: SocketAddr, records: i64) {
    assert_eq!(held(broker, A), [0, 2]);
    broker.run(async move {
        let mut client = Client::connect(to).await;
        assert_eq!(client.produce(0, b"on").await, records);
    });
    broker.start_again();
    broker.run(async move {
        let mut client = Client::connect(to).await;
        assert_eq!(client.produce(0, b"on").await, records + 1);
        assert_eq!(client.fetch(&[(0, 0)], 0).await[0][0], "0");
    });
    assert_eq!((held(broker, A), held(broker, B)), (vec![0, 2], vec![1, 3]));
    assert_eq!(broker.failures(), []);
}

fn stray_copies(broker: &Broker) -> usize {
    let is_stray = |name: &&String| name.starts_with("orders-0.") && name.ends_with("-stray");
    broker.disk().names(B).iter().filter(is_stray).count()
}

/// It stayed in its place: no later move could come there.
#[test]
fn a_copy_that_cant_be_opened_in_its_place_is_taken_out_of_it() {
    let (broker, to) = with_topic(1);
    broker.disk().fail(FaultOp::Read, &format!("{B}/orders-0/"), u32::MAX);
    broker.run(async move {
        let mut client = Client::connect(to).await;
        assert_eq!(alter(&mut client, TOPIC, 0, B).await, 0);
        await_moved(&mut client, 0).await;
        assert_eq!(client.produce(0, b"on").await, 1);
        assert_eq!(client.produce(1, b"on").await, 1);
    });
    assert_eq!((held(&broker, A), held(&broker, B)), (vec![0, 2], vec![1, 3]));
    broker.disk().clear_faults();
    broker.run(async move {
        let mut client = Client::connect(to).await;
        assert_eq!(alter(&mut client, TOPIC, 0, B).await, 0);
        await_moved(&mut client, 0).await;
        assert_eq!(client.produce(0, b"on").await, 2);
    });
    assert_eq!((held(&broker, A), held(&broker, B)), (vec![2], vec![0, 1, 3]));
    assert_eq!(broker.failures(), []);
}

/// The old log used to be deleted without a look at the copy.
#[test]
fn a_copy_that_the_disk_doesnt_give_back_is_set_aside() {
    for seed in 1..4 {
        let (broker, to) = with_topic(seed);
        let disk = broker.disk();
        broker.run(async move {
            let mut client = Client::connect(to).await;
            for offset in 1..=4 {
                assert_eq!(client.produce(0, &[b'.'; 500_000]).await, offset);
            }
            set_rate(&mut client, 1 << 40).await;
            // Slow enough to come between the renaming and the opening.
            disk.set_latency(Latency { name_us: 20_000..=20_000, ..Latency::default() });
            let mut other = Client::connect(to).await;
            let moving = rt::spawn(async move { alter(&mut other, TOPIC, 0, B).await });
            while !disk.names(B).contains(&"orders-0".to_owned()) {
                rt::sleep(Duration::from_millis(1)).await;
            }
            let segment = format!("{B}/orders-0/00000000000000000000.log");
            let bytes = disk.read_file(&segment).unwrap();
            disk.put_file(&segment, bytes.slice(..bytes.len() / 2)).unwrap();
            assert_eq!(moving.await, 0);
            disk.set_latency(Latency::default());
            await_moved(&mut client, 0).await;
        });
        assert_eq!(stray_copies(&broker), 1);
        check_still_in_a(&broker, to, 5);
    }
}

/// The metadata named the new place when that failed, so the partition lost its leader; it had none until the next start, though it was there.
#[test]
fn a_disk_that_fails_under_a_copy_in_its_place_leaves_the_partition_led() {
    for seed in 1..6 {
        let (broker, to) = with_topic(seed);
        let disk = broker.disk();
        broker.run(async move {
            let mut client = Client::connect(to).await;
            disk.set_latency(Latency { sync_us: 20_000..=20_000, ..Latency::default() });
            let mut other = Client::connect(to).await;
            let moving = rt::spawn(async move { alter(&mut other, TOPIC, 0, B).await });
            while !disk.names(B).contains(&"orders-0".to_owned()) {
                rt::sleep(Duration::from_millis(1)).await;
            }
            for op in [FaultOp::Sync, FaultOp::Read, FaultOp::Write] {
                disk.fail(op, B, u32::MAX);
            }
            assert_eq!(moving.await, 0);
            client.post_produce(1, b"lost").await.unwrap();
            let _ = client.produced().await;
            rt::sleep(Duration::from_secs(5)).await;
            let down = |partition| (partition, LEADER_NOT_AVAILABLE, vec![1]);
            let up = |partition| (partition, 0, vec![]);
            assert_eq!(metadata(&mut client).await, [up(0), down(1), up(2), down(3)]);
            assert_eq!(client.produce(0, b"on").await, 1);
        });
        assert_eq!(broker.failures(), []);
        broker.disk().clear_faults();
        broker.start_again();
        broker.run(async move {
            let mut client = Client::connect(to).await;
            assert_eq!(client.fetch(&[(0, 0)], 0).await, [[&b"0"[..], b"on"]]);
        });
        assert_eq!((held(&broker, A), held(&broker, B)), (vec![0, 2], vec![1, 3]));
    }
}

/// The next start used to find it.
#[test]
fn what_was_moved_is_deleted_once_a_full_disk_lets_it() {
    let (broker, to) = with_topic(1);
    broker.disk().fail(FaultOp::Rename, &format!("{A}/orders-0"), u32::MAX);
    broker.run(async move {
        let mut client = Client::connect(to).await;
        assert_eq!(alter(&mut client, TOPIC, 0, B).await, 0);
        await_moved(&mut client, 0).await;
        assert_eq!(client.produce(0, b"on").await, 1);
    });
    assert_eq!((held(&broker, A), held(&broker, B)), (vec![0, 2], vec![0, 1, 3]));
    broker.disk().clear_faults();
    broker.sim.run_for(Duration::from_secs(10));
    assert_eq!((held(&broker, A), held(&broker, B)), (vec![2], vec![0, 1, 3]));
}

/// Clients were sent to a leader that doesn't serve.
#[test]
fn a_failure_that_the_controller_refuses_to_hear_is_told_again() {
    let node = Shards::start(1, 2, TWO);
    let to = node.address(0);
    node.run(async move { Client::connect(to).await.create_topic(4).await });
    let first = node.shard(0);
    let epoch = &first.first.as_ref().unwrap().broker_epoch;
    let right = epoch.replace(i64::MAX);
    node.disk().fail(FaultOp::Write, &format!("{B}/"), u32::MAX);
    let states = async move {
        let mut client = Client::connect(to).await;
        metadata(&mut client).await
    };
    node.run(async move {
        let mut client = Client::connect(to).await;
        client.post_produce(1, b"lost").await.unwrap();
        let _ = client.produced().await;
        rt::sleep(Duration::from_secs(3)).await;
        let is_told = metadata(&mut client).await.iter().any(|(_, code, _)| *code == LEADER_NOT_AVAILABLE);
        assert!(!is_told, "the controller took it");
    });
    epoch.set(right);
    node.sim.run_for(Duration::from_secs(10));
    let down = |partition| (partition, LEADER_NOT_AVAILABLE, vec![1]);
    let up = |partition| (partition, 0, vec![]);
    assert_eq!(node.run(states), [up(0), down(1), up(2), down(3)]);
}
