//! Offsets of partitions, by ListOffsets and OffsetFetch.

use std::collections::BTreeMap;

use client::ClientError;
use client::blocking::Target;
use protocol::error::ErrorCode;
use protocol::messages::list_offsets_request::{ListOffsetsPartition, ListOffsetsTopic};
use protocol::messages::offset_commit_request::{OffsetCommitRequestPartition, OffsetCommitRequestTopic};
use protocol::messages::{ListOffsetsRequest, OffsetCommitRequest, OffsetFetchRequest};

use super::session::{Session, pause};

/// ListOffsets' word for the end of a partition.
pub(super) const LATEST: i64 = -1;
/// ListOffsets' word for its start.
pub(super) const EARLIEST: i64 = -2;

/// Highest versions these requests are filled for.
const LIST_OFFSETS_MAX: i16 = 7;
const OFFSET_FETCH_MAX: i16 = 7;
const OFFSET_COMMIT_MAX: i16 = 8;

/// A topic's partition.
pub(super) type Place = (String, i32);

/// Offset of the first record not older than `timestamp` (ms, or [`LATEST`], [`EARLIEST`]), -1 where there is
/// none. The topic's metadata must be known.
///
/// Tries again for a while if the leader doesn't know yet that it is one, as Kafka's right after a topic was
/// created.
pub(super) fn at_timestamp(
    session: &mut Session,
    topic: &str,
    partition: i32,
    timestamp: i64,
) -> Result<i64, ClientError> {
    let mut tries = 0;
    loop {
        tries += 1;
        match ask(session, topic, partition, timestamp) {
            Err(error) if tries < TRIES && error.code() == Some(ErrorCode::NOT_LEADER_OR_FOLLOWER) => {
                pause();
                session.client.refresh(Some(&[topic]), false)?;
            }
            outcome => return outcome,
        }
    }
}

/// How often a leader is asked, 200 ms apart.
const TRIES: u32 = 15;

fn ask(session: &mut Session, topic: &str, partition: i32, timestamp: i64) -> Result<i64, ClientError> {
    let target = Target::Leader(topic, partition);
    let (_, answer) = session.client.call::<ListOffsetsRequest>(target, LIST_OFFSETS_MAX, |_| {
        let partition = ListOffsetsPartition { partition_index: partition, timestamp, ..Default::default() };
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

/// All offsets that a group has committed.
pub(super) fn committed(session: &mut Session, group: &str) -> Result<BTreeMap<Place, i64>, ClientError> {
    let (_, answer) =
        session.client.call::<OffsetFetchRequest>(Target::Coordinator(group), OFFSET_FETCH_MAX, |_| {
            OffsetFetchRequest { group_id: group.into(), topics: None, ..Default::default() }
        })?;
    ClientError::check(answer.error_code, None, || format!("offsets of group {group}"))?;
    let mut offsets = BTreeMap::new();
    for topic in &answer.topics {
        for partition in &topic.partitions {
            if partition.error_code == 0 && partition.committed_offset >= 0 {
                offsets
                    .insert((topic.name.to_string(), partition.partition_index), partition.committed_offset);
            }
        }
    }
    Ok(offsets)
}

/// Commits offsets as a consumer outside the group's generations, which a group with live members refuses. Gives those that
/// were refused while others were committed.
///
/// # Errors
/// As of any call; the first partition's refusal, if all were refused.
pub(super) fn commit(
    session: &mut Session,
    group: &str,
    offsets: &BTreeMap<Place, i64>,
) -> Result<BTreeMap<Place, ErrorCode>, ClientError> {
    let request = commit_request(group, offsets);
    let (_, answer) = session.client.call(Target::Coordinator(group), OFFSET_COMMIT_MAX, |_| request)?;
    let partitions = answer.topics.iter().flat_map(|topic| {
        let place = |partition: i32| (topic.name.to_string(), partition);
        topic.partitions.iter().map(move |found| (place(found.partition_index), found.error_code))
    });
    let answered: Vec<(Place, i16)> = partitions.collect();
    refused(group, &answered)
}

/// The partitions that were refused, if others weren't.
pub(super) fn refused(
    group: &str,
    answered: &[(Place, i16)],
) -> Result<BTreeMap<Place, ErrorCode>, ClientError> {
    if answered.iter().all(|(_, code)| *code != 0)
        && let Some(((topic, partition), code)) = answered.first()
    {
        ClientError::check(*code, None, || format!("committing {topic}-{partition} for group {group}"))?;
    }
    let refused = answered.iter().filter(|(_, code)| *code != 0);
    Ok(refused.map(|(place, code)| (place.clone(), ErrorCode::from_code(*code))).collect())
}

fn commit_request(group: &str, offsets: &BTreeMap<Place, i64>) -> OffsetCommitRequest {
    let mut topics: BTreeMap<&str, Vec<OffsetCommitRequestPartition>> = BTreeMap::new();
    for ((topic, partition), offset) in offsets {
        topics.entry(topic).or_default().push(OffsetCommitRequestPartition {
            partition_index: *partition,
            committed_offset: *offset,
            committed_metadata: Some("".into()),
            ..Default::default()
        });
    }
    let topics = topics.into_iter().map(|(name, partitions)| OffsetCommitRequestTopic {
        name: name.into(),
        partitions,
        ..Default::default()
    });
    OffsetCommitRequest {
        group_id: group.into(),
        generation_id_or_member_epoch: -1,
        topics: topics.collect(),
        ..Default::default()
    }
}
