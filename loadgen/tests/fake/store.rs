//! Batches in memory.

use std::collections::BTreeMap;

use bytes::Bytes;
use protocol::error::ErrorCode;
use protocol::records::{BatchBuilder, BatchHeader, RecordBatch, patch_offset_and_epoch};

use super::Fault;

/// The partitions of all topics, each a list of batches.
#[derive(Debug)]
pub(crate) struct Store {
    pub(crate) partitions: i32,
    pub(crate) topics: Vec<String>,
    logs: BTreeMap<(String, i32), Vec<Bytes>>,
    fault: Fault,
    /// Batches so far.
    count: u64,
    /// The last sequences of idempotent producers, by partition and producer id.
    sequences: BTreeMap<(String, i32, i64), Vec<i32>>,
    pub(crate) next_producer_id: i64,
}

/// What becomes of a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    Answer(ErrorCode),
    Close,
}

/// Batches a broker remembers of a producer.
const REMEMBERED: usize = 5;

impl Store {
    pub(crate) fn new(partitions: i32, fault: Fault) -> Self {
        Self {
            partitions,
            topics: Vec::new(),
            logs: BTreeMap::new(),
            fault,
            count: 0,
            sequences: BTreeMap::new(),
            next_producer_id: 1,
        }
    }

    /// The offset after a partition's last record.
    pub(crate) fn end(&self, topic: &str, partition: i32) -> i64 {
        self.logs
            .get(&(topic.to_owned(), partition))
            .and_then(|log| log.last())
            .map_or(0, |batch| BatchHeader::parse(batch).unwrap().next_offset())
    }

    /// All batches from the one with `offset` on, up to `bytes_max`, but one at least.
    pub(crate) fn read(&self, topic: &str, partition: i32, offset: i64, bytes_max: usize) -> Vec<Bytes> {
        let Some(log) = self.logs.get(&(topic.to_owned(), partition)) else { return Vec::new() };
        let mut bytes = 0;
        let there = log.iter().filter(|batch| BatchHeader::parse(batch).unwrap().next_offset() > offset);
        let fits = there.take_while(|batch| {
            bytes += batch.len();
            bytes <= bytes_max || bytes == batch.len()
        });
        fits.cloned().collect()
    }

    /// Takes a batch, with the fault.
    pub(crate) fn append(&mut self, topic: &str, partition: i32, bytes: Bytes) -> Outcome {
        let batch = RecordBatch::parse(bytes).expect("the load generator sends whole batches");
        match self.sequence(topic, partition, batch.header()) {
            ErrorCode::NONE => {}
            // Kept already: said again.
            ErrorCode::DUPLICATE_SEQUENCE_NUMBER => return Outcome::Answer(ErrorCode::NONE),
            code => return Outcome::Answer(code),
        }
        let is_wrong = self.fault.befalls(self.count);
        self.count += 1;
        if is_wrong && self.fault == Fault::Refuse {
            return Outcome::Answer(ErrorCode::NOT_LEADER_OR_FOLLOWER);
        }
        self.remember(topic, partition, batch.header());
        let fault = if is_wrong { self.fault } else { Fault::None };
        match fault {
            Fault::None | Fault::Refuse => self.keep(topic, partition, batch.bytes()),
            Fault::Drop => {}
            Fault::Duplicate => {
                self.keep(topic, partition, batch.bytes());
                self.keep(topic, partition, batch.bytes());
            }
            Fault::Reorder => self.keep_before_last(topic, partition, batch.bytes()),
            Fault::Alter => self.keep(topic, partition, &altered(&batch)),
            Fault::Misplace => self.keep(topic, (partition + 1) % self.partitions, batch.bytes()),
            Fault::Disconnect => {
                self.keep(topic, partition, batch.bytes());
                return Outcome::Close;
            }
        }
        Outcome::Answer(ErrorCode::NONE)
    }

    fn sequence(&self, topic: &str, partition: i32, header: &BatchHeader) -> ErrorCode {
        if !header.has_producer() {
            return ErrorCode::NONE;
        }
        let known = self.sequences.get(&(topic.to_owned(), partition, header.producer_id));
        let (last, seen) = known.map_or((-1, false), |known| {
            (known.last().copied().unwrap_or(-1), known.contains(&header.last_sequence()))
        });
        match header.base_sequence {
            _ if seen => ErrorCode::DUPLICATE_SEQUENCE_NUMBER,
            next if next == last + 1 => ErrorCode::NONE,
            _ => ErrorCode::OUT_OF_ORDER_SEQUENCE_NUMBER,
        }
    }

    fn remember(&mut self, topic: &str, partition: i32, header: &BatchHeader) {
        if header.has_producer() {
            let known = self.sequences.entry((topic.to_owned(), partition, header.producer_id)).or_default();
            known.push(header.last_sequence());
            if known.len() > REMEMBERED {
                known.remove(0);
            }
        }
    }

    fn keep(&mut self, topic: &str, partition: i32, batch: &Bytes) {
        let end = self.end(topic, partition);
        let mut bytes = batch.to_vec();
        patch_offset_and_epoch(&mut bytes, end, 0);
        self.logs.entry((topic.to_owned(), partition)).or_default().push(bytes.into());
    }

    fn keep_before_last(&mut self, topic: &str, partition: i32, batch: &Bytes) {
        let key = (topic.to_owned(), partition);
        let last = self.logs.entry(key).or_default().pop();
        self.keep(topic, partition, batch);
        if let Some(last) = last {
            self.keep(topic, partition, &last);
        }
    }
}

/// The batch with one byte of its middle record's value changed.
fn altered(batch: &RecordBatch) -> Bytes {
    let mut builder = BatchBuilder::like(batch.header());
    let middle = i64::from(batch.header().records_count / 2);
    for record in batch.records() {
        let mut record = record.unwrap();
        if record.offset - batch.header().base_offset == middle {
            let mut value = record.value.unwrap().to_vec();
            let last = value.len() - 1;
            value[last] ^= 1;
            record.value = Some(value.into());
        }
        builder.push_record(&record);
    }
    builder.build().unwrap()
}
