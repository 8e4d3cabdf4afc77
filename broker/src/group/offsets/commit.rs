//! Deciding on OffsetCommit.

use protocol::error::ErrorCode;
use protocol::internal::OffsetCommitValue;
use protocol::messages::offset_commit_request::{OffsetCommitRequestPartition, OffsetCommitRequestTopic};
use protocol::messages::offset_commit_response::{OffsetCommitResponsePartition, OffsetCommitResponseTopic};
use protocol::messages::{OffsetCommitRequest, OffsetCommitResponse};

use crate::group::classic::{ClassicChange, ClassicGroup, GroupState};
use crate::group::config::GroupConfig;
use crate::group::coordinator::{Decision, Now};
use crate::group::decider::{GroupChange, GroupDecider};
use crate::group::record::Record;
use crate::group::request::{CommitTopic, GroupReply};

/// From this version on a commit into no group says so; before, its generation is called illegal.
const GROUP_NOT_FOUND_VERSION: i16 = 9;

/// Decides on a commit: one record a partition. `known` tells of each topic. The answer names every partition once, in the request's order.
pub(crate) fn decide_commit(
    now: Now,
    config: &GroupConfig,
    group: Option<&ClassicGroup>,
    request: &OffsetCommitRequest,
    known: &[CommitTopic],
    api_version: i16,
) -> Decision<GroupDecider> {
    if let Err(code) = check(group, request, api_version) {
        return Decision::reply(GroupReply::Commit(commit_refusal(request, known, code)));
    }
    let mut records = Vec::new();
    let response =
        answered(request, known, |topic, partition| match record(now, config, request, topic, partition) {
            Ok(record) => {
                records.push(record);
                ErrorCode::NONE
            }
            Err(code) => code,
        });
    let reply = GroupReply::Commit(response);
    Decision { records, changes: heard(group, request), ..Decision::reply(reply) }
}

fn check(
    group: Option<&ClassicGroup>,
    request: &OffsetCommitRequest,
    api_version: i16,
) -> Result<(), ErrorCode> {
    let generation = request.generation_id_or_member_epoch;
    let Some(group) = group else {
        // An administrator, or a consumer that manages its partitions itself: the commit makes the group.
        return match generation {
            ..0 => Ok(()),
            _ if api_version >= GROUP_NOT_FOUND_VERSION => Err(ErrorCode::GROUP_ID_NOT_FOUND),
            _ => Err(ErrorCode::ILLEGAL_GENERATION),
        };
    };
    if generation < 0 && group.state == GroupState::Empty {
        return Ok(());
    }
    let instance_id = request.group_instance_id.as_deref();
    if generation < 0 && request.member_id.is_empty() && instance_id.is_none() {
        return Err(ErrorCode::UNKNOWN_MEMBER_ID);
    }
    group.check_member(&request.member_id, instance_id)?;
    if generation != group.generation {
        return Err(ErrorCode::ILLEGAL_GENERATION);
    }
    // The member has this generation from its join; its partitions are being dealt out anew.
    if group.state == GroupState::CompletingRebalance {
        return Err(ErrorCode::REBALANCE_IN_PROGRESS);
    }
    Ok(())
}

fn record(
    now: Now,
    config: &GroupConfig,
    request: &OffsetCommitRequest,
    topic: &OffsetCommitRequestTopic,
    partition: &OffsetCommitRequestPartition,
) -> Result<Record, ErrorCode> {
    let metadata = partition.committed_metadata.clone().unwrap_or_default();
    // Java counts UTF-16 units.
    if metadata.len() > config.offset_metadata_max_bytes
        && metadata.encode_utf16().count() > config.offset_metadata_max_bytes
    {
        return Err(ErrorCode::OFFSET_METADATA_TOO_LARGE);
    }
    let expires_ms = match request.retention_time_ms {
        -1 => -1,
        retention_ms => now.unix_ms.saturating_add(retention_ms),
    };
    let value = OffsetCommitValue {
        offset: partition.committed_offset,
        leader_epoch: partition.committed_leader_epoch,
        metadata,
        commit_timestamp: now.unix_ms,
        expire_timestamp: expires_ms,
        topic_id: topic.topic_id,
        ..OffsetCommitValue::default()
    };
    Record::offset(&request.group_id, &topic.name, partition.partition_index, &value)
        .map_err(|_| ErrorCode::OFFSET_METADATA_TOO_LARGE)
}

/// A commit is a sign of life.
fn heard(group: Option<&ClassicGroup>, request: &OffsetCommitRequest) -> Vec<GroupChange> {
    let live = group.filter(|group| {
        matches!(group.state, GroupState::Stable | GroupState::PreparingRebalance)
            && group.members.contains_key(&request.member_id)
    });
    let change = |group: &ClassicGroup| GroupChange::Classic {
        group: group.id.clone(),
        change: ClassicChange::Heard { member_id: request.member_id.clone() },
    };
    live.map(change).into_iter().collect()
}

/// The answer that gives every partition of a request one code; those that can't be committed anyway keep their own.
pub(crate) fn commit_refusal(
    request: &OffsetCommitRequest,
    known: &[CommitTopic],
    code: ErrorCode,
) -> OffsetCommitResponse {
    answered(request, known, |_, _| code)
}

/// An answer with a code for each partition, asked for where topic and partition exist.
fn answered(
    request: &OffsetCommitRequest,
    known: &[CommitTopic],
    mut code_of: impl FnMut(&OffsetCommitRequestTopic, &OffsetCommitRequestPartition) -> ErrorCode,
) -> OffsetCommitResponse {
    let topics = request.topics.iter().enumerate().map(|(index, topic)| {
        let known = known.get(index).copied();
        let partitions = topic.partitions.iter().map(|partition| {
            let index = partition.partition_index;
            let code = match known {
                Some(known) if known.code.is_error() => known.code,
                Some(known) if !(0..known.partitions).contains(&index) => {
                    ErrorCode::UNKNOWN_TOPIC_OR_PARTITION
                }
                _ => code_of(topic, partition),
            };
            let error_code = code.code();
            OffsetCommitResponsePartition { partition_index: index, error_code, ..Default::default() }
        });
        OffsetCommitResponseTopic {
            name: topic.name.clone(),
            topic_id: topic.topic_id,
            partitions: partitions.collect(),
            ..OffsetCommitResponseTopic::default()
        }
    });
    OffsetCommitResponse { topics: topics.collect(), ..OffsetCommitResponse::default() }
}
