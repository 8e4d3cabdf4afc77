//! Batches that come back.

use std::rc::Rc;

use protocol::error::ErrorCode;

use super::super::machine::{Outgoing, Producer};
use super::machine::{MS, NODE, ack, producer};
use crate::engine::Stats;
use crate::scenario::{Keys, ProduceSpec};

/// A producer with three requests under way, one batch each, of one partition.
fn three() -> (Producer, Vec<Outgoing>) {
    let spec = ProduceSpec { batch_bytes: 1000, ..ProduceSpec::default() };
    let mut producer = producer(spec, 100, 1);
    let requests = (0..3).map(|_| producer.next_request(NODE, 0).unwrap()).collect();
    (producer, requests)
}

fn refuse(producer: &mut Producer, outgoing: Outgoing, code: ErrorCode, stats: &mut Stats) {
    for (slot, batch) in outgoing {
        producer.refused(slot, batch, code, MS, stats);
        producer.settle(std::iter::once(slot));
    }
}

fn first_sequences(producer: &mut Producer, now_ns: u64) -> Vec<u64> {
    producer.advance(now_ns).unwrap();
    let mut sequences = Vec::new();
    loop {
        let outgoing = producer.next_request(NODE, now_ns).unwrap();
        if outgoing.is_empty() {
            return sequences;
        }
        sequences.extend(outgoing.iter().map(|(_, batch)| batch.first_sequence));
    }
}

#[test]
fn what_came_back_is_sent_again_in_order_and_before_anything_new() {
    let (mut producer, requests) = three();
    let firsts: Vec<u64> = requests.iter().map(|request| request[0].1.first_sequence).collect();
    let mut stats = Stats::default();
    for request in requests {
        refuse(&mut producer, request, ErrorCode::NOT_LEADER_OR_FOLLOWER, &mut stats);
    }
    assert_eq!(stats.errors["NOT_LEADER_OR_FOLLOWER"], 3);
    assert!(producer.next_request(NODE, 2 * MS).unwrap().is_empty(), "it rests");
    let again = first_sequences(&mut producer, 1000 * MS);
    assert_eq!(again[..3], firsts);
    assert!(again.is_sorted());
}

#[test]
fn nothing_overtakes_a_batch_that_came_back() {
    let (mut producer, mut requests) = three();
    let mut stats = Stats::default();
    refuse(&mut producer, requests.remove(0), ErrorCode::NOT_ENOUGH_REPLICAS, &mut stats);
    // Two are still under way: until they are back, neither the first nor a new one goes.
    assert!(first_sequences(&mut producer, 1000 * MS).is_empty());
    refuse(&mut producer, requests.remove(0), ErrorCode::OUT_OF_ORDER_SEQUENCE_NUMBER, &mut stats);
    assert!(first_sequences(&mut producer, 2000 * MS).is_empty());
    refuse(&mut producer, requests.remove(0), ErrorCode::OUT_OF_ORDER_SEQUENCE_NUMBER, &mut stats);
    assert!(first_sequences(&mut producer, 3000 * MS).is_sorted());
    assert_eq!(producer.given_up(), None);
}

#[test]
fn a_sequence_that_nothing_explains_ends_an_idempotent_producer() {
    let spec = ProduceSpec { batch_bytes: 1000, idempotent: true, ..ProduceSpec::default() };
    let mut producer = producer(spec, 20, 1);
    producer.set_identity(5, 0);
    let mut stats = Stats::default();
    let request = producer.next_request(NODE, 0).unwrap();
    refuse(&mut producer, request, ErrorCode::OUT_OF_ORDER_SEQUENCE_NUMBER, &mut stats);
    assert!(producer.given_up().is_some_and(|why| why.contains("t-0")));
    assert!(producer.is_done() && producer.next_request(NODE, 9 * MS).unwrap().is_empty());
}

#[test]
fn a_duplicate_is_an_acknowledgement() {
    let (mut producer, mut requests) = three();
    let mut stats = Stats::default();
    refuse(&mut producer, requests.remove(0), ErrorCode::DUPLICATE_SEQUENCE_NUMBER, &mut stats);
    assert!(stats.produced.records > 0);
}

#[test]
fn a_refused_batch_is_over_for_a_producer_without_idempotence() {
    let (mut producer, requests) = three();
    let mut stats = Stats::default();
    for request in requests {
        refuse(&mut producer, request, ErrorCode::MESSAGE_TOO_LARGE, &mut stats);
    }
    assert_eq!((stats.produced.records, stats.errors["MESSAGE_TOO_LARGE"]), (0, 3));
    assert!(producer.given_up().is_none() && !producer.next_request(NODE, 2 * MS).unwrap().is_empty());
}

#[test]
fn a_batch_is_tried_until_its_time_is_over() {
    let (mut producer, mut requests) = three();
    let mut stats = Stats::default();
    let (slot, batch) = requests.remove(0).remove(0);
    producer.lost(slot, batch, 121_000 * MS, &mut stats);
    assert_eq!(stats.errors["delivery timeout"], 1);
}

#[test]
fn a_new_leader_gets_nothing_before_the_old_one_has_answered() {
    let (mut producer, requests) = three();
    producer.set_leaders(Rc::new(vec![2]));
    let mut stats = Stats::default();
    assert!(producer.next_request(2, MS).unwrap().is_empty());
    let firsts: Vec<u64> = requests.iter().map(|request| request[0].1.first_sequence).collect();
    for request in requests {
        for (slot, batch) in request {
            producer.lost(slot, batch, MS, &mut stats);
            producer.settle(std::iter::once(slot));
        }
    }
    producer.advance(1000 * MS).unwrap();
    let outgoing = producer.next_request(2, 1000 * MS).unwrap();
    assert_eq!(outgoing[0].1.first_sequence, firsts[0]);
}

#[test]
fn an_open_batch_goes_on_after_a_failure() {
    let spec =
        ProduceSpec { keys: Keys::Uniform(1), rate_per_s: 1000.0, linger_ms: 1.0, ..ProduceSpec::default() };
    let (mut producer, mut stats) = (producer(spec, 30, 1), Stats::default());
    producer.advance(5 * MS).unwrap();
    let request = producer.next_request(NODE, 5 * MS).unwrap();
    // Records come while the first batch is away, and linger their time out before it is back.
    producer.advance(20 * MS).unwrap();
    refuse(&mut producer, request, ErrorCode::NOT_LEADER_OR_FOLLOWER, &mut stats);
    let mut now_ns = 20 * MS;
    while !producer.is_done() && now_ns < 5000 * MS {
        now_ns += MS;
        producer.advance(now_ns).unwrap();
        let outgoing = producer.next_request(NODE, now_ns).unwrap();
        ack(&mut producer, outgoing, now_ns, &mut stats);
    }
    assert_eq!(stats.produced.records, 30);
}
