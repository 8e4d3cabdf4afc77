//! Partitions that go from one core to another while clients use them.

use std::cell::Cell;
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::join;
use protocol::messages::ProduceRequest;
use protocol::records::BatchBuilder;

use super::client::{Client, PRODUCE_VERSION, TOPIC, produce_request};
use super::node::Broker;
use super::repeats::with_offsets;
use crate::admin::Ask;
use crate::metadata::image::OFFSETS_TOPIC;
use crate::server::core_move::{MoveWish, Unmoved};
use crate::server::placement_file::{self, PLACEMENT};

/// Requests that a producer has under way.
const PIPELINED: u32 = 5;
const PRODUCER_ID: i64 = 77;

async fn moved(asks: &flume::Sender<Ask>, topic: &str, partition: i32, core: u16) -> Result<bool, Unmoved> {
    let (sender, answer) = flume::bounded(1);
    let wish = MoveWish { topic: topic.to_owned(), partition, core };
    asks.send_async(Ask::Move(wish, sender)).await.unwrap();
    answer.recv_async().await.unwrap().expect("the node serves")
}

/// An idempotent producer's batch of one record, its sequence as the value.
fn batch(partition: i32, sequence: i32) -> ProduceRequest {
    let mut batch = BatchBuilder::new().producer(PRODUCER_ID, 0, sequence);
    batch.push(rt::unix_ms(), None, Some(sequence.to_string().as_bytes()), &[]);
    let mut request = produce_request(partition, b"");
    request.topic_data[0].partition_data[0].records = Some(batch.build().unwrap());
    request
}

/// Sends batches, several under way, until told to stop. Gives how many were acknowledged; every answer must be the next offset.
async fn produce(to: SocketAddr, partition: i32, stop: Rc<Cell<bool>>) -> i32 {
    let mut client = Client::connect(to).await;
    let (mut sent, mut acked) = (0, 0);
    while !stop.get() || acked < sent {
        while !stop.get() && sent < acked + PIPELINED as i32 {
            client.post(&batch(partition, sent), PRODUCE_VERSION).await.unwrap();
            sent += 1;
        }
        let (_, error, offset) = client.produced().await.expect("an answer");
        assert_eq!((error, offset), (0, i64::from(acked)), "batch {acked}");
        acked += 1;
    }
    acked
}

/// Reads from the start, waiting for more, until there are `wanted` records; none may come twice, be missing, or be another.
async fn consume(to: SocketAddr, partition: i32, wanted: Rc<Cell<i32>>) {
    let mut client = Client::connect(to).await;
    let mut next = 0;
    while next < wanted.get() {
        for value in client.fetch(&[(partition, i64::from(next))], 200).await.into_iter().flatten() {
            assert_eq!(value, Bytes::from(next.to_string()));
            next += 1;
        }
    }
}

async fn with_topic(to: SocketAddr) {
    Client::connect(to).await.create_topic(4).await;
}

#[test]
fn producers_and_consumers_meet_no_error_across_twenty_moves() {
    for seed in 1..6 {
        let broker = Broker::start(seed, 3);
        let (to, asks) = (broker.address(), broker.asks());
        broker.run(async move {
            with_topic(to).await;
            let (stop, wanted) = (Rc::new(Cell::new(false)), Rc::new(Cell::new(i32::MAX)));
            let producing = [0, 1].map(|partition| rt::spawn(produce(to, partition, Rc::clone(&stop))));
            let consuming = [0, 0, 0].map(|partition| rt::spawn(consume(to, partition, Rc::clone(&wanted))));
            for core in (0..3).cycle().skip(1).take(20) {
                rt::sleep(Duration::from_millis(20)).await;
                assert_eq!(moved(&asks, TOPIC, 0, core).await, Ok(true));
            }
            stop.set(true);
            let [acked, of_other] = producing;
            wanted.set(acked.await);
            assert!(wanted.get() > 40 && of_other.await > 40, "there was traffic: {}", wanted.get());
            for consuming in consuming {
                consuming.await;
            }
        });
        assert_eq!(broker.failures(), []);
    }
}

/// A consumer that waits where nothing comes is told by the new core.
#[test]
fn a_waiting_fetch_goes_on_at_the_new_core() {
    let broker = Broker::start(3, 3);
    let (to, asks) = (broker.address(), broker.asks());
    broker.run(async move {
        with_topic(to).await;
        let mut waiting = Client::connect(to).await;
        waiting.post_fetch(&[(0, 0), (1, 0)], 20_000).await.unwrap();
        rt::sleep(Duration::from_secs(1)).await;
        for core in [1, 2] {
            assert_eq!(moved(&asks, TOPIC, 0, core).await, Ok(true));
            rt::sleep(Duration::from_secs(1)).await;
        }
        let since = rt::now();
        assert_eq!(Client::connect(to).await.produce(0, b"news").await, 0);
        assert_eq!(waiting.fetched().await.unwrap(), [vec![Bytes::from_static(b"news")], vec![]]);
        assert!(rt::now() - since < Duration::from_secs(5));
    });
}

/// A producer's last five batches are remembered, and the log's files must tell the new core all of them. After a clean stop, since which logs are
/// opened without a look at their batches: the snapshot alone tells.
#[test]
fn batches_sent_again_after_a_move_are_known() {
    let broker = Broker::start(4, 2);
    let to = broker.address();
    broker.run(with_topic(to));
    broker.stop();
    assert!(broker.ended(Duration::from_secs(60)).1.iter().all(Result::is_ok));
    broker.start_again();
    let asks = broker.asks();
    broker.run(async move {
        let mut client = Client::connect(to).await;
        for round in 0..2 {
            for sequence in 0..4 {
                if round == 0 || sequence > 0 {
                    client.post(&batch(0, sequence), PRODUCE_VERSION).await.unwrap();
                    let (_, error, offset) = client.produced().await.unwrap();
                    assert_eq!((error, offset), (0, i64::from(sequence)), "round {round}");
                }
            }
            for core in [1, 0, 1] {
                assert_eq!(moved(&asks, TOPIC, 0, core).await, Ok(true));
            }
        }
    });
}

#[test]
fn what_was_acknowledged_survives_a_crash_in_the_midst_of_moves() {
    for seed in 1..13 {
        let mut broker = Broker::start(seed, 3);
        let (to, asks) = (broker.address(), broker.asks());
        let acked = broker.run(async move {
            with_topic(to).await;
            let stop = Rc::new(Cell::new(false));
            let producing = rt::spawn(produce(to, 0, Rc::clone(&stop)));
            for core in (0..3).cycle().skip(1).take(4 + seed as usize % 5) {
                assert_eq!(moved(&asks, TOPIC, 0, core).await, Ok(true));
                rt::sleep(Duration::from_millis(5)).await;
            }
            stop.set(true);
            let acked = producing.await;
            // One more is begun, and cut short somewhere.
            let (sender, _) = flume::bounded(1);
            let wish = MoveWish { topic: TOPIC.to_owned(), partition: 0, core: seed as u16 % 3 };
            asks.send_async(Ask::Move(wish, sender)).await.unwrap();
            rt::sleep(Duration::from_micros(seed * 150)).await;
            acked
        });
        if seed % 2 == 0 {
            broker.cut_power();
        }
        let shards = 1 + seed as u16 % 4;
        broker.start_again_on(shards);
        broker.run(async move {
            consume(to, 0, Rc::new(Cell::new(acked))).await;
            assert_eq!(Client::connect(to).await.produce(0, b"on").await, i64::from(acked), "seed {seed}");
        });
        assert_eq!(broker.failures(), []);
    }
}

#[test]
fn a_restart_keeps_what_was_put_somewhere_on_purpose() {
    let mut broker = Broker::start(5, 4);
    let (to, asks) = (broker.address(), broker.asks());
    broker.run(async move {
        with_topic(to).await;
        for partition in 0..4 {
            assert_eq!(moved(&asks, TOPIC, partition, 1).await, Ok(true));
        }
    });
    let owners = |broker: &Broker| {
        broker.sim.run_for(Duration::from_secs(5));
        let file = broker.disk().read_file(format!("/data/{PLACEMENT}")).unwrap();
        let placed = placement_file::decode(&file).unwrap().placed;
        placed.iter().map(|(_, placed)| (placed.owner.0, placed.on_purpose)).collect::<Vec<_>>()
    };
    broker.kill();
    for (shards, owner) in [(4, (1, true)), (2, (1, true)), (1, (0, false))] {
        broker.start_again_on(shards);
        broker.run(async move { assert!(Client::connect(to).await.produce(0, b"on").await >= 0) });
        assert_eq!(owners(&broker), [owner; 4], "{shards} shards");
    }
}

#[test]
fn what_cant_be_moved_is_refused_with_the_reason() {
    let broker = Broker::start(6, 2);
    let (to, asks) = (broker.address(), broker.asks());
    broker.run(async move {
        with_topic(to).await;
        let mut client = Client::connect(to).await;
        with_offsets(&mut client).await;
        assert_eq!(moved(&asks, "other", 0, 1).await, Err(Unmoved::UnknownPartition));
        assert_eq!(moved(&asks, TOPIC, 4, 1).await, Err(Unmoved::UnknownPartition));
        assert_eq!(moved(&asks, TOPIC, 0, 2).await, Err(Unmoved::UnknownCore));
        let mut refused = 0;
        for partition in 0..2 {
            for core in 0..2 {
                match moved(&asks, OFFSETS_TOPIC, partition, core).await {
                    Ok(_) => {}
                    Err(error) => {
                        assert_eq!(error, Unmoved::Coordinator);
                        refused += 1;
                    }
                }
            }
        }
        assert_eq!(refused, 2);
        // One at a time.
        let both = join(moved(&asks, TOPIC, 0, 1), moved(&asks, TOPIC, 1, 0)).await;
        let mut both = [both.0, both.1];
        both.sort_by_key(Result::is_err);
        assert_eq!(both, [Ok(true), Err(Unmoved::Busy)]);
        assert_eq!(client.produce(0, b"on").await, 0);
        assert_eq!(client.produce(1, b"on").await, 0);
    });
    assert_eq!(broker.failures(), []);
}
