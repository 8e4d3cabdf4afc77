//! Records to batches, batches to leaders.

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::time::Duration;

use bytes::Bytes;
use client::ClientError;
use client::blocking::Target;
use protocol::error::ErrorCode;
use protocol::messages::ProduceRequest;
use protocol::messages::produce_request::{PartitionProduceData, TopicProduceData};
use protocol::partitioner::partition_for_key;
use protocol::records::BatchBuilder;

use super::ProduceArgs;
use crate::cli::error::CliError;
use crate::cli::session::{Session, now_ms, pause};

/// Collects a batch a partition and sends it when it is full, or when asked to. A failed batch is sent again while the broker says
/// that this may help: at least once, in order, without idempotence.
#[derive(Debug)]
pub(super) struct Sender<'a> {
    session: Session,
    args: &'a ProduceArgs,
    headers: Vec<(&'a [u8], Option<&'a [u8]>)>,
    partitions: Vec<i32>,
    batches: BTreeMap<i32, BatchBuilder>,
    /// Where records without keys go until the next flush.
    turn: usize,
}

/// Uncompressed bytes from which a batch is sent.
const BATCH_BYTES: usize = 256 * 1024;
/// Last version that names topics instead of their ids.
const PRODUCE_MAX: i16 = 12;
const TIMEOUT_MS: i32 = 30_000;
/// How often a batch is sent, 200 ms apart.
const TRIES: u32 = 30;

impl<'a> Sender<'a> {
    pub(super) fn new(mut session: Session, args: &'a ProduceArgs) -> Result<Self, CliError> {
        let partitions = session.partitions_of(&args.topic, true)?;
        if let Some(partition) = args.partition.filter(|partition| !partitions.contains(partition)) {
            let count = partitions.len();
            return Err(CliError::Usage(format!(
                "{} has {count} partitions, from 0: {partition} isn't one",
                args.topic
            )));
        }
        let headers =
            args.header.iter().map(|(key, value)| (key.as_bytes(), Some(value.as_bytes()))).collect();
        Ok(Self { session, args, headers, partitions, batches: BTreeMap::new(), turn: now_ms() as usize })
    }

    /// Adds a record to its partition's batch.
    pub(super) fn add(&mut self, key: Option<&[u8]>, value: Option<&[u8]>) -> Result<(), CliError> {
        let partition = self.partition_of(key);
        let batch = self
            .batches
            .entry(partition)
            .or_insert_with(|| BatchBuilder::new().compression(self.args.compression));
        batch.push(now_ms(), key, value, &self.headers);
        if batch.uncompressed_bytes() >= BATCH_BYTES {
            self.flush()?;
        }
        Ok(())
    }

    fn partition_of(&self, key: Option<&[u8]>) -> i32 {
        if let Some(partition) = self.args.partition {
            return partition;
        }
        let count =
            u32::try_from(self.partitions.len()).ok().and_then(NonZeroU32::new).unwrap_or(NonZeroU32::MIN);
        let at = match key {
            Some(key) => partition_for_key(key, count) as usize,
            None => self.turn % count.get() as usize,
        };
        self.partitions.get(at).copied().unwrap_or(0)
    }

    /// Sends all batches and waits until they are acknowledged.
    pub(super) fn flush(&mut self) -> Result<(), CliError> {
        for (partition, batch) in std::mem::take(&mut self.batches) {
            self.deliver(partition, &batch.build()?)?;
            self.turn += 1;
        }
        Ok(())
    }

    fn deliver(&mut self, partition: i32, batch: &Bytes) -> Result<(), CliError> {
        let mut tries = 0;
        loop {
            tries += 1;
            match self.send(partition, batch) {
                Err(error) if tries < TRIES && may_pass(&error) => {
                    pause();
                    self.session.client.refresh(Some(&[&self.args.topic]), true)?;
                }
                outcome => return Ok(outcome?),
            }
        }
    }

    fn send(&mut self, partition: i32, batch: &Bytes) -> Result<(), ClientError> {
        let topic = &self.args.topic;
        let acks = self.args.acks.code();
        let request = |_| request(topic, partition, batch.clone(), acks);
        let target = Target::Leader(topic, partition);
        if acks == 0 {
            let connection = self.session.client.connection_to(target)?;
            let version = connection.versions().choose::<ProduceRequest>(PRODUCE_MAX)?;
            return connection.send_unanswered(&request(version), version);
        }
        let wait = Duration::from_millis(TIMEOUT_MS as u64);
        let (_, answer) = self.session.client.call_within(target, PRODUCE_MAX, wait, request)?;
        let partition = answer.responses.first().and_then(|topic| topic.partition_responses.first());
        let Some(found) = partition else {
            return Err(ClientError::Unknown("the broker confirmed nothing".into()));
        };
        let why = found.error_message.as_deref();
        ClientError::check(found.error_code, why, || format!("sending to {topic}-{}", found.index))
    }
}

fn request(topic: &str, partition: i32, batch: Bytes, acks: i16) -> ProduceRequest {
    let data = PartitionProduceData { index: partition, records: Some(batch), ..Default::default() };
    let topic = TopicProduceData { name: topic.into(), partition_data: vec![data], ..Default::default() };
    ProduceRequest { acks, timeout_ms: TIMEOUT_MS, topic_data: vec![topic], ..Default::default() }
}

/// A timeout isn't among these: the batch may have been appended.
fn may_pass(error: &ClientError) -> bool {
    error.code().is_some_and(|code| code.is_retriable() && code != ErrorCode::REQUEST_TIMED_OUT)
}
