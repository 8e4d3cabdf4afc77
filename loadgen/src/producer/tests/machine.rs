//! What a producer makes, and when it sends it.

use std::rc::Rc;
use std::sync::Arc;

use protocol::partitioner::partition_for_key;

use super::super::machine::{Outgoing, Producer, ProducerPlan};
use crate::draw::KeyDraw;
use crate::engine::{Layout, Stats};
use crate::scenario::{Acks, Keys, ProduceSpec};

pub(super) const MS: u64 = 1_000_000;
pub(super) const NODE: i32 = 1;

pub(super) fn producer(spec: ProduceSpec, records: u64, partitions: u32) -> Producer {
    let mut layout = Layout::default();
    layout.add("t".into(), Default::default(), partitions);
    let rate = spec.rate_per_s;
    let plan = ProducerPlan {
        keys: KeyDraw::new(spec.keys),
        layout: Arc::new(layout),
        run: 1,
        verifies: true,
        spec,
    };
    let leaders = Rc::new(vec![NODE; partitions as usize]);
    Producer::new(Arc::new(plan), 0, records, rate, 0, leaders).unwrap()
}

pub(super) fn ack(producer: &mut Producer, outgoing: Outgoing, now_ns: u64, stats: &mut Stats) {
    let slots: Vec<u32> = outgoing.iter().map(|(slot, _)| *slot).collect();
    for (slot, batch) in outgoing {
        producer.acked(slot, batch, now_ns, stats);
    }
    producer.settle(slots.into_iter());
}

#[test]
fn a_closed_loop_sends_one_batch_of_each_partition_until_all_is_sent() {
    let spec = ProduceSpec { batch_bytes: 1100, ..ProduceSpec::default() };
    let (mut producer, mut stats) = (producer(spec, 100, 3), Stats::default());
    let mut now_ns = 0;
    while !producer.is_done() {
        now_ns += MS;
        producer.advance(now_ns).unwrap();
        let outgoing = producer.next_request(NODE, now_ns).unwrap();
        let slots: Vec<u32> = outgoing.iter().map(|(slot, _)| *slot).collect();
        let mut once = slots.clone();
        once.sort();
        once.dedup();
        assert_eq!(once.len(), slots.len(), "a partition twice in {slots:?}");
        ack(&mut producer, outgoing, now_ns + MS, &mut stats);
    }
    assert_eq!((stats.produced.records, stats.produced.value_bytes), (100, 10_000));
    assert_eq!(stats.produce_us.len(), 100);
    let acked: u64 = producer.into_acked().map(|(_, sent, acked)| sent.min(acked.len())).sum();
    assert_eq!(acked, 100);
}

#[test]
fn a_request_has_no_more_bytes_than_it_may() {
    let spec = ProduceSpec { batch_bytes: 1000, request_bytes: 2500, ..ProduceSpec::default() };
    let mut producer = producer(spec, u64::MAX, 10);
    for _ in 0..20 {
        let outgoing = producer.next_request(NODE, 0).unwrap();
        let bytes: usize = outgoing.iter().map(|(_, batch)| batch.bytes.len()).sum();
        assert!(outgoing.len() == 2 && bytes <= 2500, "{} batches, {bytes} bytes", outgoing.len());
    }
}

#[test]
fn an_open_loop_makes_what_is_due_and_counts_from_when_it_was_meant() {
    let spec = ProduceSpec { rate_per_s: 1000.0, ..ProduceSpec::default() };
    let (mut producer, mut stats) = (producer(spec, u64::MAX, 1), Stats::default());
    producer.advance(0).unwrap();
    let first = producer.next_request(NODE, 0).unwrap();
    assert_eq!(first[0].1.records, 1);
    assert_eq!(producer.poll_timeout(), Some(MS));
    // The broker holds up the answer for 50 ms: what was due meanwhile is late, and none is left out.
    producer.advance(50 * MS).unwrap();
    ack(&mut producer, first, 50 * MS, &mut stats);
    let second = producer.next_request(NODE, 50 * MS).unwrap();
    assert_eq!(second[0].1.records, 50);
    ack(&mut producer, second, 60 * MS, &mut stats);
    assert_eq!(stats.produced.records, 51);
    assert!(stats.produce_us.max().abs_diff(59_000) < 60, "{}", stats.produce_us.max());
    assert!(stats.produce_us.value_at_quantile(0.5) > 30_000);
}

#[test]
fn records_linger_for_others() {
    let spec = ProduceSpec { rate_per_s: 1000.0, linger_ms: 10.0, ..ProduceSpec::default() };
    let mut producer = producer(spec, u64::MAX, 1);
    for ms in 0..10 {
        producer.advance(ms * MS).unwrap();
        assert!(producer.next_request(NODE, ms * MS).unwrap().is_empty(), "at {ms} ms");
    }
    producer.advance(10 * MS).unwrap();
    assert_eq!(producer.next_request(NODE, 10 * MS).unwrap()[0].1.records, 11);
}

#[test]
fn a_full_batch_does_not_linger() {
    let spec =
        ProduceSpec { rate_per_s: 1000.0, linger_ms: 1000.0, batch_bytes: 1000, ..ProduceSpec::default() };
    let mut producer = producer(spec, u64::MAX, 1);
    producer.advance(20 * MS).unwrap();
    let outgoing = producer.next_request(NODE, 20 * MS).unwrap();
    assert!((5..10).contains(&outgoing[0].1.records), "{}", outgoing[0].1.records);
}

#[test]
fn a_buffer_that_is_full_holds_up_the_loop_and_nothing_else() {
    let spec = ProduceSpec { rate_per_s: 1e6, buffer_bytes: 10_000, ..ProduceSpec::default() };
    let (mut producer, mut stats) = (producer(spec, 1000, 1), Stats::default());
    producer.advance(1000 * MS).unwrap();
    assert_eq!(producer.poll_timeout(), None, "only an answer makes room");
    let mut now_ns = 1000 * MS;
    while !producer.is_done() {
        now_ns += MS;
        producer.advance(now_ns).unwrap();
        let outgoing = producer.next_request(NODE, now_ns).unwrap();
        assert!(!outgoing.is_empty());
        ack(&mut producer, outgoing, now_ns, &mut stats);
    }
    assert_eq!(stats.produced.records, 1000);
}

#[test]
fn keys_decide_the_partition() {
    let spec = ProduceSpec { keys: Keys::Uniform(50), ..ProduceSpec::default() };
    let mut producer = producer(spec, 2000, 7);
    producer.advance(0).unwrap();
    let mut seen = 0;
    for (slot, batch) in producer.next_request(NODE, 0).unwrap() {
        let batch = protocol::records::RecordBatch::parse(batch.bytes).unwrap();
        for record in batch.records() {
            let key = record.unwrap().key.unwrap();
            assert_eq!(partition_for_key(&key, 7.try_into().unwrap()), slot);
            seen += 1;
        }
    }
    assert_eq!(seen, 2000);
}

#[test]
fn without_acknowledgements_nothing_is_claimed() {
    let spec = ProduceSpec { acks: Acks::None, ..ProduceSpec::default() };
    let (mut producer, mut stats) = (producer(spec, 10, 1), Stats::default());
    let outgoing = producer.next_request(NODE, 0).unwrap();
    ack(&mut producer, outgoing, 0, &mut stats);
    assert_eq!((stats.produced.records, stats.produce_us.len()), (10, 0));
    assert_eq!(producer.into_acked().map(|(_, _, acked)| acked.len()).sum::<u64>(), 0);
}

#[test]
fn a_stop_lets_what_is_made_go() {
    let spec = ProduceSpec { rate_per_s: 1000.0, linger_ms: 5.0, ..ProduceSpec::default() };
    let (mut producer, mut stats) = (producer(spec, u64::MAX, 1), Stats::default());
    producer.advance(2 * MS).unwrap();
    producer.stop();
    assert!(!producer.is_done());
    producer.advance(100 * MS).unwrap();
    let outgoing = producer.next_request(NODE, 100 * MS).unwrap();
    ack(&mut producer, outgoing, 101 * MS, &mut stats);
    assert!(producer.is_done());
    assert_eq!(stats.produced.records, 3);
}
