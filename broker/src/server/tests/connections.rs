//! Connections of two shards: what clients that go, wait or don't read cost the shard, and that all of it comes back.

use std::rc::Rc;
use std::time::Duration;

use bytes::Bytes;
use protocol::messages::FetchRequest;
use rt::ShardId;

use super::client::{Client, FETCH_VERSION, fetch_request};
use super::node::Shards;

const MINUTES_MS: i32 = 600_000;

/// Two shards with a topic of two partitions, the first on shard 0, the second on shard 1.
fn two_shards(seed: u64, settings: &[(&str, &str)]) -> Shards {
    let shards = Shards::start(seed, 2, settings);
    let to = shards.address(0);
    shards.run(async move { Client::connect(to).await.create_topic(2).await });
    shards
}

async fn until(condition: impl Fn() -> bool) {
    while !condition() {
        rt::sleep(Duration::from_millis(1)).await;
    }
}

#[test]
fn produce_and_fetch_work_whichever_shard_a_connection_lives_on() {
    rt::sim::for_each_seed(20, |seed| {
        let shards = two_shards(seed, &[]);
        let addresses = [shards.address(0), shards.address(1)];
        shards.run(async move {
            for (at, to) in addresses.into_iter().enumerate() {
                let mut client = Client::connect(to).await;
                for partition in 0..2 {
                    let offset = client.produce(partition, format!("{at} {partition}").as_bytes()).await;
                    assert_eq!(offset, at as i64);
                }
                let fetched = client.fetch(&[(0, 0), (1, 0)], 0).await;
                assert_eq!((fetched[0].len(), fetched[1].len()), (at + 1, at + 1));
            }
        });
        shards.check_rest();
    });
}

#[test]
fn answers_come_in_order_however_requests_are_piped() {
    rt::sim::for_each_seed(20, |seed| {
        let shards = two_shards(seed, &[]);
        let to = shards.address(0);
        shards.run(async move {
            let mut client = Client::connect(to).await;
            let mut posted = Vec::new();
            for at in 0..50 {
                posted.push(client.post_produce(at % 2, b"x").await.unwrap());
            }
            client.post_fetch(&[(0, 0)], 0).await.unwrap();
            posted.push(client.post_produce(1, b"last").await.unwrap());
            for (at, number) in posted.iter().enumerate() {
                if at == 50 {
                    assert_eq!(client.fetched().await.unwrap()[0].len(), 25, "it saw all before it");
                }
                let (answered, error, offset) = client.produced().await.unwrap();
                assert_eq!((answered, error, offset), (*number, 0, at as i64 / 2));
            }
        });
        shards.check_rest();
    });
}

/// Its piece at the other shard used to wait for as long as the client had been willing to wait.
#[test]
fn a_client_that_goes_takes_its_waits_with_it() {
    rt::sim::for_each_seed(20, |seed| {
        let shards = two_shards(seed, &[]);
        let (to, shard) = (shards.address(0), shards.shard(0));
        shards.run(async move {
            let mut clients = Vec::new();
            for _ in 0..5 {
                let mut client = Client::connect(to).await;
                client.post_fetch(&[(1, 0)], MINUTES_MS).await.unwrap();
                clients.push(client);
            }
            let waiting = move || shard.mesh.waiting(ShardId(1));
            until(|| waiting() == 5).await;
            drop(clients);
            let gone = rt::timeout(Duration::from_secs(1), until(|| waiting() == 0)).await;
            assert!(gone.is_ok(), "{} waits are kept", waiting());
        });
        shards.check_rest();
    });
}

#[test]
fn a_fetch_that_one_shard_answers_is_not_waited_for_at_the_other() {
    rt::sim::for_each_seed(20, |seed| {
        let shards = two_shards(seed, &[]);
        let (to, shard) = (shards.address(0), shards.shard(0));
        shards.run(async move {
            let (mut consumer, mut producer) = (Client::connect(to).await, Client::connect(to).await);
            for round in 0..10 {
                consumer.post_fetch(&[(0, round), (1, 0)], MINUTES_MS).await.unwrap();
                until(|| shard.mesh.waiting(ShardId(1)) == 1).await;
                producer.produce(0, b"news").await;
                assert_eq!(consumer.fetched().await.unwrap()[0], [Bytes::from_static(b"news")]);
                let cancelled =
                    rt::timeout(Duration::from_secs(1), until(|| shard.mesh.waiting(ShardId(1)) == 0));
                assert!(cancelled.await.is_ok());
            }
        });
        shards.check_rest();
    });
}

/// It used to wait for as long as the client allowed, since no answer could ever be large enough.
#[test]
fn a_fetch_does_not_wait_for_more_than_its_answer_may_hold() {
    rt::sim::for_each_seed(5, |seed| {
        // An answer's records are 2 MiB at most.
        let shards = two_shards(seed, &[("ringlog.memory.max.bytes", "67108864")]);
        let to = shards.address(0);
        shards.run(async move {
            let mut client = Client::connect(to).await;
            for _ in 0..30 {
                client.produce(0, &[b'.'; 100 << 10]).await;
            }
            for (min_bytes, max_bytes) in [(1 << 20, 1_000), (50 << 20, 40 << 20)] {
                let request = FetchRequest { min_bytes, max_bytes, ..fetch_request(&[(0, 0)], MINUTES_MS) };
                client.post(&request, FETCH_VERSION).await.unwrap();
                let fetched = rt::timeout(Duration::from_secs(5), client.fetched()).await;
                assert!(!fetched.expect("an answer at once").unwrap()[0].is_empty());
            }
        });
        shards.check_rest();
    });
}

/// Clients that ask for much and read nothing: what they make the shard hold is bounded, and the one who reads is served.
#[test]
fn answers_that_nobody_reads_are_bounded() {
    rt::sim::for_each_seed(3, |seed| {
        // A shard has 32 MiB: 8 for responses, an answer's records at most 2.
        let shards = two_shards(seed, &[("ringlog.memory.max.bytes", "67108864")]);
        let (to, shard) = (shards.address(0), shards.shard(0));
        shards.run(async move {
            let mut client = Client::connect(to).await;
            for _ in 0..40 {
                client.produce(0, &[b'.'; 100 << 10]).await;
            }
            let memory = shard.network.response_memory.clone();
            assert_eq!(memory.capacity(), 8 << 20);
            let mut deaf = Vec::new();
            for _ in 0..20 {
                let mut client = Client::connect(to).await;
                for _ in 0..5 {
                    client.post_fetch(&[(0, 0)], 0).await.unwrap();
                }
                deaf.push(client);
                rt::sleep(Duration::from_millis(100)).await;
                // An answer is a little more than its records.
                assert!(memory.used() <= memory.capacity() + (64 << 10), "{}", memory.used());
            }
            assert!(memory.waiting() > 0, "there are more answers than room");
            let since = rt::now();
            let fetched = client.fetch(&[(0, 39)], 0).await;
            assert_eq!(fetched[0].len(), 1);
            let waited = rt::now() - since;
            assert!(waited < Duration::from_secs(300), "{waited:?}");
            // One of them is still there and reads at last: it gets what it asked for, or the end.
            let mut last = deaf.pop().unwrap();
            while last.fetched().await.is_some() {}
        });
        shards.check_rest();
    });
}

#[test]
fn half_sent_requests_hold_memory_for_a_while_and_no_longer() {
    rt::sim::for_each_seed(3, |seed| {
        let shards = two_shards(seed, &[]);
        let (to, shard) = (shards.address(0), shards.shard(0));
        shards.run(async move {
            let client = Client::connect(to).await;
            let mut start = (50i32 << 20).to_be_bytes().to_vec();
            start.extend_from_slice(&[0; 100]);
            client.conn().send(vec![start.into()]).await.unwrap();
            let memory = Rc::clone(&shard);
            until(|| memory.network.large_request_memory.used() == 50 << 20).await;
            while client.conn().send(vec![Bytes::from_static(&[0])]).await.is_ok() {
                rt::sleep(Duration::from_secs(20)).await;
            }
            assert_eq!(shard.network.large_request_memory.used(), 0);
            assert_eq!(shard.network.counts.violations.get(), 1);
        });
        shards.check_rest();
    });
}

#[test]
fn a_violation_is_answered_by_the_end_and_earlier_requests_by_their_answers() {
    rt::sim::for_each_seed(20, |seed| {
        let shards = two_shards(seed, &[]);
        let (to, shard) = (shards.address(1), shards.shard(1));
        shards.run(async move {
            let mut client = Client::connect(to).await;
            let posted = client.post_produce(0, b"x").await.unwrap();
            client.conn().send(vec![Bytes::from_static(b"\0\0\0\x08\x7f\xff\0\0\0\0\0\0")]).await.unwrap();
            assert_eq!(client.produced().await, Some((posted, 0, 0)));
            assert_eq!(client.frame().await, None);
            assert_eq!(shard.network.counts.violations.get(), 1);
        });
        shards.check_rest();
    });
}

/// All but Produces used to be dropped at the end of the client's side, begun or not.
#[test]
fn what_a_client_asked_before_it_ended_its_side_is_done_and_answered() {
    rt::sim::for_each_seed(20, |seed| {
        let shards = two_shards(seed, &[]);
        let to = shards.address(0);
        shards.run(async move {
            let mut client = Client::connect(to).await;
            for partition in 0..2 {
                client.post_produce(partition, b"x").await.unwrap();
            }
            for _ in 0..3 {
                client.post_fetch(&[(0, 0), (1, 0)], 0).await.unwrap();
            }
            client.post_produce(0, b"last").await.unwrap();
            client.conn().shutdown();
            for _ in 0..2 {
                assert_eq!(client.produced().await.map(|(_, error, offset)| (error, offset)), Some((0, 0)));
            }
            for _ in 0..3 {
                let fetched = client.fetched().await.expect("an answer");
                assert_eq!((fetched[0].len(), fetched[1].len()), (1, 1));
            }
            assert_eq!(client.produced().await.map(|(_, error, offset)| (error, offset)), Some((0, 1)));
            assert_eq!(client.frame().await, None);
        });
        shards.check_rest();
    });
}
