//! Records to batches, batches to leaders.

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::time::Duration;

use bytes::Bytes;
use client::blocking::Target;
use client::{ClientError, SendError};
use protocol::error::ErrorCode;
use protocol::messages::produce_request::{PartitionProduceData, TopicProduceData};
use protocol::messages::{InitProducerIdRequest, ProduceRequest};
use protocol::partitioner::partition_for_key;
use protocol::records::BatchBuilder;

use super::{Acks, NewRecord, ProduceArgs};
use crate::cli::error::CliError;
use crate::cli::session::{Session, now_ms, pause};

/// Collects a batch a partition and sends it when it is full, or when asked to. With acks=all it is an
/// idempotent producer (KIP-98): a batch whose answer is missing is sent again, and the broker keeps one.
/// Otherwise only batches that were refused are sent again.
#[derive(Debug)]
pub(super) struct Sender<'a> {
    session: Session,
    args: &'a ProduceArgs,
    headers: Vec<(&'a [u8], Option<&'a [u8]>)>,
    partitions: Vec<i32>,
    batches: BTreeMap<i32, BatchBuilder>,
    /// Producer id and epoch, if idempotent.
    producer: Option<(i64, i16)>,
    /// Next sequence of each partition.
    sequences: BTreeMap<i32, i32>,
    /// Where records without keys go until the next flush.
    turn: usize,
}

/// Uncompressed bytes from which a batch is sent.
const BATCH_BYTES: usize = 256 * 1024;
/// Last version that names topics instead of their ids.
const PRODUCE_MAX: i16 = 12;
const INIT_PRODUCER_ID_MAX: i16 = 4;
const TIMEOUT_MS: i32 = 30_000;
/// How often a batch is sent, 200 ms apart: Kafka misses a dead leader only after 9 s.
const TRIES: u32 = 150;

impl<'a> Sender<'a> {
    pub(super) fn new(mut session: Session, args: &'a ProduceArgs) -> Result<Self, CliError> {
        let partitions = session.partitions_of(&args.topic, true)?;
        let headers =
            args.header.iter().map(|(key, value)| (key.as_bytes(), Some(value.as_bytes()))).collect();
        let producer = if args.acks == Acks::All { producer_id(&mut session)? } else { None };
        let sender = Self {
            session,
            args,
            headers,
            partitions,
            batches: BTreeMap::new(),
            producer,
            sequences: BTreeMap::new(),
            turn: now_ms() as usize,
        };
        if let Some(partition) = args.partition {
            sender.must_exist(partition)?;
        }
        Ok(sender)
    }

    fn must_exist(&self, partition: i32) -> Result<i32, CliError> {
        if self.partitions.contains(&partition) {
            return Ok(partition);
        }
        let (topic, count) = (&self.args.topic, self.partitions.len());
        Err(CliError::Usage(format!("{topic} has {count} partitions, from 0: {partition} isn't one")))
    }

    /// Adds a record to its partition's batch.
    pub(super) fn add(&mut self, record: &NewRecord) -> Result<(), CliError> {
        let (key, value) = (record.key.as_deref(), record.value.as_deref());
        let partition = match record.partition {
            Some(named) => self.must_exist(named)?,
            None => self.partition_of(key),
        };
        let own = record.headers.iter().map(|(key, value)| (key.as_slice(), value.as_deref()));
        let headers: Vec<_> = self.headers.iter().copied().chain(own).collect();
        let batch = self
            .batches
            .entry(partition)
            .or_insert_with(|| BatchBuilder::new().compression(self.args.compression));
        batch.push(record.timestamp_ms.unwrap_or_else(now_ms), key, value, &headers);
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

    /// Sends all batches and waits until they are acknowledged. One that fails doesn't keep the others from being sent; the first failure is told.
    pub(super) fn flush(&mut self) -> Result<(), CliError> {
        let mut outcome = Ok(());
        while let Some((partition, batch)) = self.batches.pop_first() {
            let sent = self.send_numbered(partition, batch);
            self.turn += 1;
            outcome = outcome.and(sent);
        }
        outcome
    }

    fn send_numbered(&mut self, partition: i32, batch: BatchBuilder) -> Result<(), CliError> {
        let batch = self.numbered(partition, batch);
        self.deliver(partition, &batch.build()?)
    }

    /// Gives a batch its producer and sequence, if there is one.
    fn numbered(&mut self, partition: i32, batch: BatchBuilder) -> BatchBuilder {
        let Some((id, epoch)) = self.producer else { return batch };
        let next = self.sequences.entry(partition).or_insert(0);
        let sequence = *next;
        // Sequences wrap from i32::MAX to 0.
        *next = ((i64::from(sequence) + batch.len() as i64) & i64::from(i32::MAX)) as i32;
        batch.producer(id, epoch, sequence)
    }

    fn deliver(&mut self, partition: i32, batch: &Bytes) -> Result<(), CliError> {
        let mut tries = 0;
        loop {
            tries += 1;
            match self.send(partition, batch) {
                Err(error) if tries < TRIES && self.may_resend(&error) => {
                    pause();
                    // If this fails as well, the next try tells.
                    self.session.client.refresh(Some(&[&self.args.topic]), true).unwrap_or_default();
                }
                outcome => return Ok(outcome?),
            }
        }
    }

    /// Whether sending again can't append twice, and may help.
    fn may_resend(&self, error: &ClientError) -> bool {
        let refused = error.code().is_some_and(|code| code != ErrorCode::REQUEST_TIMED_OUT);
        error.may_pass() && (refused || self.producer.is_some())
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

/// Asks for a producer id; none from a broker that has none.
fn producer_id(session: &mut Session) -> Result<Option<(i64, i16)>, ClientError> {
    let mut tries = 0;
    loop {
        tries += 1;
        let outcome = session.client.call::<InitProducerIdRequest>(Target::Any, INIT_PRODUCER_ID_MAX, |_| {
            InitProducerIdRequest {
                transactional_id: None,
                transaction_timeout_ms: i32::MAX,
                ..Default::default()
            }
        });
        let answer = match outcome {
            Err(ClientError::Send(SendError::Unsupported { .. })) => return Ok(None),
            outcome => outcome?.1,
        };
        match ClientError::check(answer.error_code, None, || "asking for a producer id".into()) {
            Err(error) if tries < TRIES && error.may_pass() => pause(),
            outcome => return outcome.map(|()| Some((answer.producer_id, answer.producer_epoch))),
        }
    }
}
