//! Records in the order that leaders give them.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use client::ClientError;
use client::blocking::Target;
use protocol::error::ErrorCode;
use protocol::messages::fetch_request::{FetchPartition, FetchTopic};
use protocol::messages::fetch_response::PartitionData;
use protocol::messages::{FetchRequest, FetchResponse};
use protocol::records::{BatchScan, Record};

use super::start::Position;
use crate::cli::error::CliError;
use crate::cli::offsets::{EARLIEST, at_timestamp};
use crate::cli::session::{Session, pause};

/// Asks one leader after the other for what follows each partition's position.
#[derive(Debug)]
pub(super) struct Fetcher<'a> {
    topic: &'a str,
    positions: BTreeMap<i32, Position>,
    /// Leaders in the order they are asked, the next one first.
    leaders: VecDeque<i32>,
    /// Tries in a row that failed for want of a leader or a way to it.
    failures: u32,
}

/// Last version that names topics instead of their ids.
const FETCH_MAX: i16 = 12;
const MAX_BYTES: i32 = 32 << 20;
const PARTITION_MAX_BYTES: i32 = 4 << 20;
/// How long a leader without records may wait for some, shared among the leaders.
const MAX_WAIT_MS: i32 = 500;
/// Failures in a row, 200 ms apart, after which a missing leader is an error.
const FAILURES_MAX: u32 = 150;

impl<'a> Fetcher<'a> {
    pub(super) fn new(topic: &'a str, positions: BTreeMap<i32, Position>) -> Self {
        Self { topic, positions, leaders: VecDeque::new(), failures: 0 }
    }

    /// Each partition and the offset after its last record taken.
    pub(super) fn positions(&self) -> impl Iterator<Item = (i32, i64)> {
        self.positions.iter().map(|(partition, position)| (*partition, position.next))
    }

    /// Whether every partition has been read up to the end it had at the start.
    pub(super) fn is_at_end(&self) -> bool {
        self.positions.values().all(|position| position.next >= position.end)
    }

    /// The next records, at most `max`, by one request; none if the leader asked had none.
    pub(super) fn next(&mut self, session: &mut Session, max: u64) -> Result<Vec<(i32, Record)>, CliError> {
        match self.fetch(session) {
            Ok(answer) => {
                ClientError::check(answer.error_code, None, || format!("fetching {}", self.topic))?;
                let partitions = answer.responses.iter().flat_map(|topic| &topic.partitions);
                let mut records = Vec::new();
                for partition in partitions {
                    self.take(session, partition, max, &mut records)?;
                }
                Ok(records)
            }
            Err(error) if error.may_pass() => self.find_leaders(session, error),
            Err(error) => Err(error.into()),
        }
    }

    fn fetch(&mut self, session: &mut Session) -> Result<FetchResponse, ClientError> {
        let cluster = session.client.cluster();
        if self.leaders.is_empty() {
            let mut leaders = Vec::new();
            for partition in self.positions.keys() {
                leaders.push(cluster.leader(self.topic, *partition)?.id);
            }
            leaders.sort_unstable();
            leaders.dedup();
            self.leaders = leaders.into();
        }
        let wait_ms = MAX_WAIT_MS / i32::try_from(self.leaders.len().max(1)).unwrap_or(1);
        self.leaders.rotate_left(1);
        let Some(leader) = self.leaders.back().copied() else {
            return Err(ClientError::Unknown(format!("{} has no partitions", self.topic)));
        };
        let of_leader =
            |partition: i32| cluster.leader(self.topic, partition).is_ok_and(|node| node.id == leader);
        let wanted = self.positions.iter().filter(|(partition, _)| of_leader(**partition));
        let wanted = wanted.map(|(partition, position)| FetchPartition {
            partition: *partition,
            fetch_offset: position.next,
            partition_max_bytes: PARTITION_MAX_BYTES,
            ..Default::default()
        });
        let topic =
            FetchTopic { topic: self.topic.into(), partitions: wanted.collect(), ..Default::default() };
        let wait = Duration::from_millis(wait_ms as u64);
        let (_, answer) = session.client.call_within(Target::Node(leader), FETCH_MAX, wait, |version| {
            let mut request = FetchRequest {
                replica_id: -1,
                max_wait_ms: wait_ms,
                min_bytes: 1,
                max_bytes: MAX_BYTES,
                topics: vec![topic],
                ..Default::default()
            };
            if version >= 7 {
                request.session_epoch = -1; // no session
            }
            request
        })?;
        Ok(answer)
    }

    fn take(
        &mut self,
        session: &mut Session,
        data: &PartitionData,
        max: u64,
        records: &mut Vec<(i32, Record)>,
    ) -> Result<(), CliError> {
        let partition = data.partition_index;
        let code = ErrorCode::from_code(data.error_code);
        if code == ErrorCode::OFFSET_OUT_OF_RANGE {
            return self.restart(session, partition);
        }
        if let Err(error) =
            ClientError::check(data.error_code, None, || format!("{}-{partition}", self.topic))
        {
            return if code.is_retriable() {
                self.find_leaders(session, error).map(drop)
            } else {
                Err(error.into())
            };
        }
        self.failures = 0;
        let Some(position) = self.positions.get_mut(&partition) else { return Ok(()) };
        let bytes = data.records.as_ref().map(protocol::types::Records::to_bytes).unwrap_or_default();
        for batch in BatchScan::new(bytes) {
            let batch = batch?;
            if batch.header().attributes.is_control() || batch.header().next_offset() <= position.next {
                position.next = position.next.max(batch.header().next_offset());
                continue;
            }
            for record in batch.records() {
                let record = record?;
                if records.len() as u64 >= max {
                    return Ok(());
                }
                // A batch may start before the offset that was asked for.
                if record.offset >= position.next {
                    position.next = record.offset + 1;
                    records.push((partition, record));
                }
            }
            // Compaction may have taken the last records of a batch.
            position.next = position.next.max(batch.header().next_offset());
        }
        Ok(())
    }

    /// The records at the position are gone: starts again with the oldest there are.
    fn restart(&mut self, session: &mut Session, partition: i32) -> Result<(), CliError> {
        let start = at_timestamp(session, self.topic, partition, EARLIEST)?;
        if let Some(position) = self.positions.get_mut(&partition) {
            let (topic, next) = (self.topic, position.next);
            eprintln!("ringlog: offset {next} of {topic}-{partition} isn't there; going on from {start}");
            position.next = start;
        }
        Ok(())
    }

    /// Waits a moment and asks for the metadata again; gives up on `error` after many times.
    fn find_leaders(
        &mut self,
        session: &mut Session,
        error: ClientError,
    ) -> Result<Vec<(i32, Record)>, CliError> {
        self.failures += 1;
        if self.failures > FAILURES_MAX {
            return Err(error.into());
        }
        pause();
        // If this fails as well, the next try tells.
        session.client.refresh(Some(&[self.topic]), false).unwrap_or_default();
        self.leaders.clear();
        Ok(Vec::new())
    }
}
