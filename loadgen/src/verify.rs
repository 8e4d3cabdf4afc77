//! Reading a run's records back: each there once, whole, in order within its partition.

use std::collections::BTreeMap;
use std::time::Duration;

use client::ClientError;
use client::blocking::{BlockingClient, Target};
use protocol::messages::FetchRequest;
use protocol::messages::fetch_request::{FetchPartition, FetchTopic};
use protocol::records::{BatchScan, Record};

use crate::clock::Stopwatch;
use crate::payload::stamp;
use crate::topic::end_offset;
use crate::{BenchArgs, LoadError};

/// Last version that names topics instead of their ids.
const FETCH_MAX: i16 = 12;
const FETCH_BYTES: i32 = 16 << 20;
const WAIT_MS: i32 = 500;
/// Empty answers in a row before the end, after which records count as unreadable.
const EMPTY_MAX: u32 = 20;

/// The records of one run that were read so far.
#[derive(Debug)]
pub(crate) struct Ledger {
    producer: u64,
    /// A bit a sequence.
    seen: Vec<u64>,
    records: u64,
    found: u64,
}

impl Ledger {
    pub(crate) fn new(producer: u64, records: u64) -> Self {
        Self { producer, seen: vec![0; records.div_ceil(64) as usize], records, found: 0 }
    }

    /// Notes one record; the last sequence of its partition is `last`.
    pub(crate) fn take(&mut self, record: &Record, last: &mut Option<u64>) -> Result<(), String> {
        let at = record.offset;
        let found = record
            .value
            .as_deref()
            .and_then(stamp)
            .ok_or_else(|| format!("the record at offset {at} is damaged"))?;
        if found.producer != self.producer {
            return Ok(()); // somebody else's, at the same time
        }
        let sequence = found.sequence;
        if sequence >= self.records {
            return Err(format!("record {sequence} was never sent"));
        }
        let (word, bit) = ((sequence / 64) as usize, 1 << (sequence % 64));
        if self.seen[word] & bit != 0 {
            return Err(format!("record {sequence} is there twice, again at offset {at}"));
        }
        if last.is_some_and(|last| last >= sequence) {
            return Err(format!("record {sequence} at offset {at} comes after a later one"));
        }
        self.seen[word] |= bit;
        self.found += 1;
        *last = Some(sequence);
        Ok(())
    }

    /// Whether all are there.
    pub(crate) fn close(&self) -> Result<(), String> {
        let missing = self.records - self.found;
        if missing == 0 {
            return Ok(());
        }
        let first =
            (0..self.records).find(|at| self.seen[(at / 64) as usize] & 1 << (at % 64) == 0).unwrap_or(0);
        Err(format!("{missing} of {} acknowledged records are missing, the first is {first}", self.records))
    }
}

/// Reads everything after `starts` and checks that it holds the whole run; returns how long reading took.
pub(crate) fn run(
    client: &mut BlockingClient,
    args: &BenchArgs,
    starts: &BTreeMap<i32, i64>,
    producer: u64,
) -> Result<Duration, LoadError> {
    let clock = Stopwatch::start();
    let mut ledger = Ledger::new(producer, args.records);
    for (partition, start) in starts {
        read(client, args, *partition, *start, &mut ledger)?;
    }
    ledger.close().map_err(LoadError::Verify)?;
    Ok(clock.elapsed())
}

fn read(
    client: &mut BlockingClient,
    args: &BenchArgs,
    partition: i32,
    start: i64,
    ledger: &mut Ledger,
) -> Result<(), LoadError> {
    let end = end_offset(client, &args.topic, partition)?;
    let (mut next, mut last, mut empty) = (start, None, 0);
    while next < end {
        let before = next;
        let bytes = fetch(client, &args.topic, partition, next)?;
        for batch in BatchScan::new(bytes) {
            let batch = batch?;
            for record in batch.records() {
                let record = record?;
                if record.offset >= next {
                    let place = |why| LoadError::Verify(format!("{}-{partition}: {why}", args.topic));
                    ledger.take(&record, &mut last).map_err(place)?;
                }
            }
            next = next.max(batch.header().next_offset());
        }
        empty = if next == before { empty + 1 } else { 0 };
        if empty > EMPTY_MAX {
            return Err(LoadError::Verify(format!(
                "{}-{partition} can't be read from {next} to {end}",
                args.topic
            )));
        }
    }
    Ok(())
}

fn fetch(
    client: &mut BlockingClient,
    topic: &str,
    partition: i32,
    offset: i64,
) -> Result<bytes::Bytes, LoadError> {
    let target = Target::Leader(topic, partition);
    let wait = Duration::from_millis(WAIT_MS as u64);
    let (_, answer) = client.call_within(target, FETCH_MAX, wait, |version| {
        let wanted = FetchPartition {
            partition,
            fetch_offset: offset,
            partition_max_bytes: FETCH_BYTES,
            ..Default::default()
        };
        let mut request = FetchRequest {
            replica_id: -1,
            max_wait_ms: WAIT_MS,
            min_bytes: 1,
            max_bytes: FETCH_BYTES,
            topics: vec![FetchTopic { topic: topic.into(), partitions: vec![wanted], ..Default::default() }],
            ..Default::default()
        };
        if version >= 7 {
            request.session_epoch = -1; // no session
        }
        request
    })?;
    ClientError::check(answer.error_code, None, || format!("fetching {topic}-{partition}"))?;
    let found = answer.responses.first().and_then(|topic| topic.partitions.first());
    let Some(found) = found else { return Ok(bytes::Bytes::new()) };
    ClientError::check(found.error_code, None, || format!("fetching {topic}-{partition}"))?;
    Ok(found.records.as_ref().map(protocol::types::Records::to_bytes).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::payload::Payload;

    fn record(producer: u64, sequence: u64) -> Record {
        let value = Payload::new(producer, 40).value(sequence).to_vec();
        Record { offset: sequence as i64, value: Some(value.into()), ..Record::default() }
    }

    #[test]
    fn a_whole_run_passes_and_every_fault_shows() {
        let mut ledger = Ledger::new(1, 70);
        let mut last = None;
        for sequence in (0..70).filter(|sequence| *sequence != 65) {
            ledger.take(&record(1, sequence), &mut last).unwrap();
        }
        ledger.take(&record(2, 3), &mut last).unwrap();
        assert!(ledger.close().unwrap_err().contains("the first is 65"));
        assert!(ledger.take(&record(1, 65), &mut last).unwrap_err().contains("after a later one"));
        assert!(ledger.take(&record(1, 64), &mut None).unwrap_err().contains("twice"));
        assert!(ledger.take(&record(1, 70), &mut None).unwrap_err().contains("never sent"));
        assert!(ledger.take(&Record::default(), &mut None).unwrap_err().contains("damaged"));
        ledger.take(&record(1, 65), &mut None).unwrap();
        assert_eq!(ledger.close(), Ok(()));
    }
}
