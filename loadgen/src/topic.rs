//! The topic of a run.

use std::time::Duration;

use client::ClientError;
use client::blocking::{BlockingClient, Target};
use protocol::error::ErrorCode;
use protocol::messages::create_topics_request::CreatableTopic;
use protocol::messages::list_offsets_request::{ListOffsetsPartition, ListOffsetsTopic};
use protocol::messages::{CreateTopicsRequest, ListOffsetsRequest};

use crate::BenchArgs;
use crate::clock::pause;

/// Highest version filled here, and the first in which the broker has defaults (KIP-464).
const CREATE_MAX: i16 = 7;
const DEFAULTS_FROM: i16 = 4;
const LIST_OFFSETS_MAX: i16 = 7;
const TIMEOUT_MS: i32 = 30_000;
/// How often leaders are looked for, 100 ms apart.
const TRIES: u32 = 300;
const PAUSE: Duration = Duration::from_millis(100);
/// ListOffsets' word for the end of a partition.
const LATEST: i64 = -1;

/// Finds the topic, or creates it, waits for its leaders, and returns its partitions.
pub(crate) fn prepare(client: &mut BlockingClient, args: &BenchArgs) -> Result<Vec<i32>, ClientError> {
    client.refresh(Some(&[&args.topic]), false)?;
    if client.cluster().topic(&args.topic).is_err() {
        create(client, args)?;
    }
    for _ in 0..TRIES {
        client.refresh(Some(&[&args.topic]), false)?;
        let found = client.cluster().topic(&args.topic).ok();
        let led = found.filter(|topic| topic.partitions.values().all(|partition| partition.leader >= 0));
        if let Some(topic) = led {
            return Ok(topic.partitions.keys().copied().collect());
        }
        pause(PAUSE);
    }
    Err(ClientError::Unknown(format!("topic {} has partitions without a leader", args.topic)))
}

fn create(client: &mut BlockingClient, args: &BenchArgs) -> Result<(), ClientError> {
    let (_, answer) = client.call(Target::Controller, CREATE_MAX, |version| {
        let unset = if version >= DEFAULTS_FROM { -1 } else { 1 };
        let topic = CreatableTopic {
            name: (&args.topic).into(),
            num_partitions: args.partitions.unwrap_or(unset),
            replication_factor: args.replication_factor.unwrap_or(unset as i16),
            ..Default::default()
        };
        CreateTopicsRequest { topics: vec![topic], timeout_ms: TIMEOUT_MS, ..Default::default() }
    })?;
    for result in &answer.topics {
        if result.error_code != ErrorCode::TOPIC_ALREADY_EXISTS.code() {
            let what = || format!("creating topic {}", args.topic);
            ClientError::check(result.error_code, result.error_message.as_deref(), what)?;
        }
    }
    Ok(())
}

/// The offset after a partition's last record. Waits for a leader that doesn't know yet that it is one, as
/// Kafka's for a moment after a topic was created.
pub(crate) fn end_offset(
    client: &mut BlockingClient,
    topic: &str,
    partition: i32,
) -> Result<i64, ClientError> {
    let mut tries = 0;
    loop {
        tries += 1;
        match ask_end_offset(client, topic, partition) {
            Err(error) if tries < TRIES && error.code().is_some_and(|code| code.is_retriable()) => {
                pause(PAUSE);
                client.refresh(Some(&[topic]), false)?;
            }
            outcome => return outcome,
        }
    }
}

fn ask_end_offset(client: &mut BlockingClient, topic: &str, partition: i32) -> Result<i64, ClientError> {
    let (_, answer) = client.call(Target::Leader(topic, partition), LIST_OFFSETS_MAX, |_| {
        let partition =
            ListOffsetsPartition { partition_index: partition, timestamp: LATEST, ..Default::default() };
        let topic =
            ListOffsetsTopic { name: topic.into(), partitions: vec![partition], ..Default::default() };
        ListOffsetsRequest { replica_id: -1, topics: vec![topic], ..Default::default() }
    })?;
    let found = answer.topics.first().and_then(|topic| topic.partitions.first());
    let found =
        found.ok_or_else(|| ClientError::Unknown(format!("no offset was told of {topic}-{partition}")))?;
    ClientError::check(found.error_code, None, || format!("offsets of {topic}-{partition}"))?;
    Ok(found.offset)
}
