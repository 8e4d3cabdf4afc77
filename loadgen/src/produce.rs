//! The closed loop: a number of batches in flight for each partition, the next one as soon as one is
//! acknowledged.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use client::blocking::{BlockingClient, BlockingConnection, Target};
use client::{ClientError, RequestId};
use hdrhistogram::Histogram;
use protocol::messages::ProduceRequest;
use protocol::messages::produce_request::{PartitionProduceData, TopicProduceData};
use protocol::records::BatchBuilder;

use crate::clock::{Stopwatch, unix_ms};
use crate::payload::Payload;
use crate::{BenchArgs, LoadError};

/// Last version that names topics instead of their ids.
const PRODUCE_MAX: i16 = 12;
const TIMEOUT_MS: i32 = 30_000;
/// Latencies are kept in us, to three digits, up to ten minutes.
const LATENCY_US_MAX: u64 = 600_000_000;

/// What the loop did.
#[derive(Debug)]
pub(crate) struct Produced {
    pub(crate) batches: u64,
    /// Bytes of the batches as sent.
    pub(crate) batch_bytes: u64,
    pub(crate) took: Duration,
    /// Microseconds from sending to acknowledgement, once a record.
    pub(crate) latency_us: Histogram<u64>,
}

/// A batch without acknowledgement.
#[derive(Debug)]
struct Waiting {
    id: RequestId,
    partition: i32,
    records: u64,
    sent: Duration,
}

#[derive(Debug)]
struct Loop<'a> {
    args: &'a BenchArgs,
    payload: Payload,
    next_sequence: u64,
    clock: Stopwatch,
    produced: Produced,
    /// By leader, in the order sent.
    waiting: BTreeMap<i32, VecDeque<Waiting>>,
}

/// Sends all records of the run, in turns over the partitions of each leader.
pub(crate) fn run(
    client: &mut BlockingClient,
    args: &BenchArgs,
    partitions: &[i32],
    producer: u64,
) -> Result<Produced, LoadError> {
    let latency_us =
        Histogram::new_with_max(LATENCY_US_MAX, 3).map_err(|error| LoadError::Usage(error.to_string()))?;
    let produced = Produced { batches: 0, batch_bytes: 0, took: Duration::ZERO, latency_us };
    let mut by_leader: BTreeMap<i32, Vec<i32>> = BTreeMap::new();
    for partition in partitions {
        by_leader.entry(client.cluster().leader(&args.topic, *partition)?.id).or_default().push(*partition);
    }
    let waiting = by_leader.keys().map(|leader| (*leader, VecDeque::new())).collect();
    let payload = Payload::new(producer, args.record_bytes);
    let mut state = Loop { args, payload, next_sequence: 0, clock: Stopwatch::start(), produced, waiting };
    loop {
        for (leader, partitions) in &by_leader {
            state.fill(client.connection_to(Target::Node(*leader))?, *leader, partitions)?;
        }
        if state.waiting.values().all(VecDeque::is_empty) {
            state.produced.took = state.clock.elapsed();
            return Ok(state.produced);
        }
        for leader in by_leader.keys() {
            state.take(client.connection_to(Target::Node(*leader))?, *leader)?;
        }
    }
}

impl Loop<'_> {
    /// Sends batches until each partition of a leader has its number in flight.
    fn fill(
        &mut self,
        connection: &mut BlockingConnection,
        leader: i32,
        partitions: &[i32],
    ) -> Result<(), LoadError> {
        let version =
            connection.versions().choose::<ProduceRequest>(PRODUCE_MAX).map_err(ClientError::from)?;
        for partition in partitions {
            while self.next_sequence < self.args.records
                && self.in_flight(leader, *partition) < self.args.in_flight as usize
            {
                self.send(connection, leader, *partition, version)?;
            }
        }
        Ok(())
    }

    fn in_flight(&self, leader: i32, partition: i32) -> usize {
        self.waiting
            .get(&leader)
            .map_or(0, |waiting| waiting.iter().filter(|batch| batch.partition == partition).count())
    }

    fn send(
        &mut self,
        connection: &mut BlockingConnection,
        leader: i32,
        partition: i32,
        version: i16,
    ) -> Result<(), LoadError> {
        let batch = self.batch();
        let records = batch.len() as u64;
        let bytes = batch.build()?;
        self.produced.batches += 1;
        self.produced.batch_bytes += bytes.len() as u64;
        let data = PartitionProduceData { index: partition, records: Some(bytes), ..Default::default() };
        let topic = (&self.args.topic).into();
        let topic = TopicProduceData { name: topic, partition_data: vec![data], ..Default::default() };
        let request = ProduceRequest {
            acks: self.args.acks.code(),
            timeout_ms: TIMEOUT_MS,
            topic_data: vec![topic],
            ..Default::default()
        };
        let sent = self.clock.elapsed();
        let id = connection.send(&request, version, Duration::from_millis(TIMEOUT_MS as u64))?;
        self.waiting.entry(leader).or_default().push_back(Waiting { id, partition, records, sent });
        Ok(())
    }

    fn batch(&mut self) -> BatchBuilder {
        let mut batch = BatchBuilder::new().compression(self.args.compression);
        let now_ms = unix_ms();
        while self.next_sequence < self.args.records
            && (batch.is_empty()
                || batch.uncompressed_bytes() + self.args.record_bytes <= self.args.batch_bytes as usize)
        {
            batch.push(now_ms, None, Some(self.payload.value(self.next_sequence)), &[]);
            self.next_sequence += 1;
        }
        batch
    }

    /// Waits for one acknowledgement of a leader, if it owes any.
    fn take(&mut self, connection: &mut BlockingConnection, leader: i32) -> Result<(), LoadError> {
        let Some(batch) = self.waiting.get_mut(&leader).and_then(VecDeque::pop_front) else { return Ok(()) };
        let answer = connection.next_answer()?;
        let latency = self.clock.elapsed().saturating_sub(batch.sent);
        assert_eq!(answer.id, batch.id, "a connection answers in order");
        let answer = connection.decode::<ProduceRequest>(answer)?;
        for found in answer.responses.iter().flat_map(|topic| &topic.partition_responses) {
            let why = found.error_message.as_deref();
            ClientError::check(found.error_code, why, || {
                format!("sending to {}-{}", self.args.topic, found.index)
            })?;
        }
        let latency_us = u64::try_from(latency.as_micros()).unwrap_or(u64::MAX).clamp(1, LATENCY_US_MAX);
        self.produced.latency_us.saturating_record(latency_us);
        self.produced.latency_us.record_n(latency_us, batch.records - 1).unwrap_or_default();
        Ok(())
    }
}
