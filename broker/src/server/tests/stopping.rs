//! The whole node, told to stop while clients are busy with it.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use protocol::header::request_frame;
use protocol::messages::join_group_request::JoinGroupRequestProtocol;
use protocol::messages::{CreateTopicsRequest, FindCoordinatorRequest, HeartbeatRequest, JoinGroupRequest};
use protocol::types::Str;
use rt::sim::{FaultOp, Latency};

use super::client::{Client, PRODUCE_VERSION, produce_request};
use super::node::Broker;
use crate::server::failure::Failure;

/// Far more than any stop takes.
const WITHIN: Duration = Duration::from_secs(60);
const NOT_COORDINATOR: i16 = 16;

fn with_topic(seed: u64) -> Broker {
    let broker = Broker::start(seed, 2);
    let to = broker.address();
    broker.run(async move { Client::connect(to).await.create_topic(2).await });
    broker
}

/// Both shards have ended well, within `within`.
fn check_stopped(broker: &Broker, within: Duration) {
    let (took, ended) = broker.ended(WITHIN);
    assert_eq!(ended, [Ok(()), Ok(())]);
    assert!(took <= within, "{took:?}");
    assert!(broker.is_clean());
}

/// Values by partition and offset.
type Places = BTreeSet<(i32, i64, Vec<u8>)>;

/// Sends without waiting for answers until the end of the stream, and gives what was answered.
async fn load(to: SocketAddr, name: usize, answered: Rc<RefCell<Places>>) {
    let mut client = Client::connect(to).await;
    let mut posted = Vec::new();
    for number in 0.. {
        let (partition, value) = (number % 2, format!("{name} {number}"));
        match client.post_produce(partition, value.as_bytes()).await {
            Ok(at) => posted.push((at, partition, value)),
            Err(_) => break,
        }
        // A few under way at a time, as real clients have.
        if number >= 5 {
            let Some((at, 0, offset)) = client.produced().await else { break };
            let (posted_at, partition, value) = posted.remove(0);
            assert_eq!(at, posted_at);
            answered.borrow_mut().insert((partition, offset, value.into_bytes()));
        }
    }
    while let Some((at, 0, offset)) = client.produced().await {
        let (posted_at, partition, value) = posted.remove(0);
        assert_eq!(at, posted_at);
        answered.borrow_mut().insert((partition, offset, value.into_bytes()));
    }
}

/// A produce that was begun on one shard used to lose its answer when the other shard stopped first, or its own connection was closed: the
/// record was there, and the client sent it again.
#[test]
fn what_is_in_the_log_was_answered_and_what_was_answered_is_in_the_log() {
    rt::sim::for_each_seed(40, |seed| {
        let broker = with_topic(seed);
        let answered: Rc<RefCell<Places>> = Rc::default();
        let clients: Vec<_> = (0..6)
            .map(|name| broker.client.spawn(load(broker.address(), name, Rc::clone(&answered))))
            .collect();
        broker.sim.run_for(Duration::from_millis(20 + broker.sim.choose(100)));
        broker.stop();
        check_stopped(&broker, Duration::from_secs(2));
        broker.sim.run_for(Duration::from_secs(1));
        assert!(clients.iter().all(rt::sim::Task::is_finished), "clients saw the end");
        assert!(answered.borrow().len() > 10, "{} answered", answered.borrow().len());
        broker.start_again();
        let to = broker.address();
        let there = broker.run(async move {
            let mut client = Client::connect(to).await;
            let fetched = client.fetch(&[(0, 0), (1, 0)], 0).await;
            let places = (0i32..).zip(fetched).flat_map(|(partition, values)| {
                (0i64..).zip(values).map(move |(offset, value)| (partition, offset, value.to_vec()))
            });
            places.collect::<Places>()
        });
        assert_eq!(there, answered.take());
    });
}

#[test]
fn a_long_poll_is_answered_and_holds_nothing_up() {
    rt::sim::for_each_seed(20, |seed| {
        let broker = with_topic(seed);
        let to = broker.address();
        let polls: Vec<_> = (0..4)
            .map(|_| {
                broker.client.spawn(async move {
                    let mut client = Client::connect(to).await;
                    client.post_fetch(&[(0, 0), (1, 0)], 600_000).await.unwrap();
                    let fetched = client.fetched().await.expect("an answer");
                    assert!(fetched.iter().all(Vec::is_empty));
                    assert_eq!(client.frame().await, None);
                })
            })
            .collect();
        broker.sim.run_for(Duration::from_secs(1));
        broker.stop();
        check_stopped(&broker, Duration::from_secs(1));
        broker.sim.run_for(Duration::from_secs(1));
        assert!(polls.iter().all(rt::sim::Task::is_finished));
    });
}

#[test]
fn a_group_that_forms_is_sent_to_find_its_coordinator_again() {
    rt::sim::for_each_seed(10, |seed| {
        let broker = with_topic(seed);
        let to = broker.address();
        let code: Rc<RefCell<Option<i16>>> = Rc::default();
        let told = Rc::clone(&code);
        let joined = Rc::new(RefCell::new(false));
        let joining = Rc::clone(&joined);
        let _client = broker.client.spawn(async move {
            let mut client = Client::connect(to).await;
            let group = Str::from_static("billing");
            let find = FindCoordinatorRequest { key: group.clone(), ..Default::default() };
            while client.call(&find, 3).await.error_code != 0 {
                rt::sleep(Duration::from_millis(100)).await;
            }
            let heartbeat = HeartbeatRequest { group_id: group.clone(), ..Default::default() };
            // UNKNOWN_MEMBER_ID says that the coordinator has loaded.
            while client.call(&heartbeat, 3).await.error_code != 25 {
                rt::sleep(Duration::from_millis(100)).await;
            }
            let protocol = JoinGroupRequestProtocol { name: Str::from_static("range"), ..Default::default() };
            let join = JoinGroupRequest {
                group_id: group,
                session_timeout_ms: 10_000,
                rebalance_timeout_ms: 60_000,
                protocol_type: Str::from_static("consumer"),
                protocols: vec![protocol],
                ..Default::default()
            };
            joining.replace(true);
            // It waits for other members for 3 seconds (group.initial.rebalance.delay.ms).
            told.replace(Some(client.call(&join, 3).await.error_code));
        });
        broker.sim.run_until(WITHIN, || *joined.borrow()).unwrap();
        broker.sim.run_for(Duration::from_millis(500));
        assert_eq!(*code.borrow(), None);
        broker.stop();
        check_stopped(&broker, Duration::from_secs(2));
        broker.sim.run_for(Duration::from_secs(1));
        assert_eq!(*code.borrow(), Some(NOT_COORDINATOR));
    });
}

/// A client whose answers are more than its connection takes, and that doesn't read them.
fn deaf_client(broker: &Broker) -> rt::sim::Task<()> {
    let to = broker.address();
    let client = broker.client.spawn(async move {
        let mut client = Client::connect(to).await;
        for _ in 0..10 {
            client.produce(0, &[b'.'; 100 << 10]).await;
        }
        client.post_fetch(&[(0, 0)], 0).await.unwrap();
        std::future::pending().await
    });
    broker.sim.run_for(Duration::from_secs(5));
    client
}

#[test]
fn a_client_that_does_not_read_is_waited_for_up_to_the_deadline() {
    rt::sim::for_each_seed(5, |seed| {
        let broker = with_topic(seed);
        let _client = deaf_client(&broker);
        broker.stop();
        let (took, ended) = broker.ended(WITHIN);
        assert_eq!(ended, [Ok(()), Ok(())]);
        assert!((4..=6).contains(&took.as_secs()), "{took:?}");
        assert!(broker.is_clean());
    });
}

#[test]
fn a_second_signal_makes_it_hurry_and_it_is_clean_all_the_same() {
    rt::sim::for_each_seed(20, |seed| {
        let broker = with_topic(seed);
        let _client = deaf_client(&broker);
        broker.stop();
        broker.sim.run_for(Duration::from_millis(broker.sim.choose(2_000)));
        broker.stop();
        check_stopped(&broker, Duration::from_millis(500));
    });
}

#[test]
fn a_connection_that_sends_nothing_ends_at_once_and_none_begins() {
    rt::sim::for_each_seed(20, |seed| {
        let broker = with_topic(seed);
        let to = broker.address();
        let idle = broker.client.spawn(async move {
            let mut client = Client::connect(to).await;
            assert_eq!(client.frame().await, None);
        });
        broker.sim.run_for(Duration::from_secs(1));
        broker.stop();
        check_stopped(&broker, Duration::from_millis(500));
        broker.sim.run_for(Duration::from_secs(1));
        assert!(idle.is_finished());
        let refused = broker.run(async move { rt::net::connect(to).await.is_err() });
        assert!(refused);
    });
}

/// It used to answer every later change of metadata with an error for ever, and to look healthy.
#[test]
fn a_metadata_log_that_fails_ends_the_node() {
    rt::sim::for_each_seed(10, |seed| {
        for op in [FaultOp::Write, FaultOp::Sync] {
            let broker = with_topic(seed);
            broker.disk().fail(op, "ringlog-raft.log", 1);
            let to = broker.address();
            let _client = broker.client.spawn(async move {
                let mut client = Client::connect(to).await;
                let mut request = CreateTopicsRequest { timeout_ms: 10_000, ..Default::default() };
                request.topics.resize(1, Default::default());
                request.topics[0].name = Str::from_static("late");
                request.topics[0].num_partitions = 1;
                request.topics[0].replication_factor = 1;
                client.call(&request, 7).await
            });
            let (_, ended) = broker.ended(WITHIN);
            let failure = ended.into_iter().find_map(Result::err).expect("a failure");
            assert_eq!(failure.code, 1);
            assert!(failure.message.contains("metadata log"), "{failure}");
            assert!(!broker.is_clean());
        }
    });
}

/// Sends requests without a pause, and never stops at the end of one.
async fn flood(to: SocketAddr) {
    let Ok(conn) = rt::net::connect(to).await else { return };
    let conn = Rc::new(conn);
    let answers = Rc::clone(&conn);
    let _reading = rt::spawn(async move {
        let mut buf = BytesMut::with_capacity(64 << 10);
        while let (Ok(1..), back) = answers.recv(buf).await {
            buf = back;
            buf.clear();
            buf.reserve(64 << 10);
        }
    });
    let request = produce_request(0, &[b'.'; 3_000]);
    let frame = request_frame(1, None, &request, PRODUCE_VERSION).unwrap().into_bufs().concat();
    let (half, rest) = frame.split_at(frame.len() / 2);
    let round = Bytes::from([rest, &frame.repeat(20), half].concat());
    let _ = conn.send(vec![Bytes::copy_from_slice(half)]).await;
    while conn.send(vec![round.clone()]).await.is_ok() {}
}

/// It used to be asked for its next request first, of which there was always one, and was told of the stop when it was cut off.
#[test]
fn clients_that_always_have_more_to_send_do_not_hold_the_stop_up() {
    rt::sim::for_each_seed(3, |seed| {
        let broker = with_topic(seed);
        let to = broker.address();
        let clients: Vec<_> = (0..2).map(|_| broker.client.spawn(flood(to))).collect();
        broker.sim.run_for(Duration::from_millis(20 + broker.sim.choose(20)));
        broker.stop();
        check_stopped(&broker, Duration::from_millis(800));
        broker.sim.run_for(Duration::from_secs(1));
        assert!(clients.iter().all(rt::sim::Task::is_finished), "clients saw the end");
    });
}

/// A signal used to be looked at only once the node served: the service manager killed it in the end.
#[test]
fn a_node_that_still_recovers_stops_at_once_and_recovers_the_next_time() {
    rt::sim::for_each_seed(30, |seed| {
        let broker = with_topic(seed);
        let to = broker.address();
        broker.run(async move {
            let mut client = Client::connect(to).await;
            for number in 0..10 {
                client.produce(number % 2, b"x").await;
            }
        });
        let slow = 1_000_000..=1_000_000;
        let fast = Latency::default();
        broker.disk().set_latency(Latency {
            read_us: slow.clone(),
            write_us: slow.clone(),
            sync_us: slow.clone(),
            name_us: slow,
            ..fast.clone()
        });
        broker.start_again();
        broker.sim.run_for(Duration::from_millis(broker.sim.choose(30_000)));
        broker.stop();
        let (took, ended) = broker.ended(WITHIN);
        assert!(took <= Duration::from_millis(100), "{took:?}");
        assert_eq!(ended, [Err(Failure::stopped_early())]);
        assert_eq!(ended[0].as_ref().unwrap_err().code, 0);
        // No other shard calls it a failure that shard 0 is gone: it might end the process first.
        broker.sim.run_for(Duration::from_secs(100));
        assert_eq!(broker.failures(), []);

        broker.disk().set_latency(fast);
        broker.start_again();
        let there = broker.run(async move {
            let mut client = Client::connect(to).await;
            let fetched = client.fetch(&[(0, 0), (1, 0)], 0).await;
            fetched.into_iter().map(|values| values.len()).collect::<Vec<_>>()
        });
        assert_eq!(there, [5, 5]);
        broker.stop();
        check_stopped(&broker, Duration::from_secs(2));
    });
}

/// The mark of a clean stop used to go as the first thing: a node told to stop while it started recovered everything the next time.
#[test]
fn a_clean_node_told_to_stop_while_it_starts_is_as_clean_as_before() {
    let early = Cell::new(0);
    rt::sim::for_each_seed(30, |seed| {
        let broker = with_topic(seed);
        broker.stop();
        check_stopped(&broker, Duration::from_secs(2));
        broker.disk().set_latency(Latency { read_us: 1_000_000..=1_000_000, ..Latency::default() });
        broker.start_again();
        broker.sim.run_for(Duration::from_millis(broker.sim.choose(12_000)));
        broker.stop();
        let (_, ended) = broker.ended(WITHIN);
        let is_early = ended == [Err(Failure::stopped_early())];
        early.set(early.get() + i32::from(is_early && broker.is_clean()));
        // What a clean stop says of the logs goes with the mark, once all are open.
        let in_use = !broker.disk().names("/data").contains(&"recovery-point-offset-checkpoint".into());
        assert!(broker.is_clean() || (is_early && in_use));
    });
    assert!(early.get() >= 15, "{}", early.get());
}
