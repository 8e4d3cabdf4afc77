//! What depends on the version of a request: checks before the machine, and forms of old versions.

use protocol::error::ErrorCode;
use protocol::messages::leave_group_request::MemberIdentity;
use protocol::messages::offset_fetch_request::{OffsetFetchRequestGroup, OffsetFetchRequestTopics};
use protocol::messages::offset_fetch_response::{
    OffsetFetchResponseGroup, OffsetFetchResponsePartition, OffsetFetchResponsePartitions,
    OffsetFetchResponseTopic,
};
use protocol::messages::{
    JoinGroupRequest, LeaveGroupRequest, OffsetCommitRequest, OffsetFetchRequest, OffsetFetchResponse,
    SyncGroupRequest,
};
use protocol::types::Str;

use super::config::GroupConfig;
use super::topics::TopicLookup;

/// From this version on offsets go by topic id only.
const OFFSETS_BY_ID_VERSION: i16 = 10;

/// Checks a join and fills in what its version can't say.
///
/// # Errors
/// INVALID_GROUP_ID, INVALID_SESSION_TIMEOUT.
pub(crate) fn prejoin(
    config: &GroupConfig,
    version: i16,
    request: &mut JoinGroupRequest,
) -> Result<(), ErrorCode> {
    if request.group_id.is_empty() {
        return Err(ErrorCode::INVALID_GROUP_ID);
    }
    let allowed = config.min_session_timeout_ms..=config.max_session_timeout_ms;
    if !allowed.contains(&request.session_timeout_ms) {
        return Err(ErrorCode::INVALID_SESSION_TIMEOUT);
    }
    if version < 1 {
        request.rebalance_timeout_ms = request.session_timeout_ms;
    }
    Ok(())
}

/// Checks a sync: from version 5 on it must name the protocol, which is checked before the group id.
///
/// # Errors
/// INCONSISTENT_GROUP_PROTOCOL, INVALID_GROUP_ID.
pub(crate) fn presync_check(version: i16, request: &SyncGroupRequest) -> Result<(), ErrorCode> {
    if version >= 5 && (request.protocol_type.is_none() || request.protocol_name.is_none()) {
        return Err(ErrorCode::INCONSISTENT_GROUP_PROTOCOL);
    }
    if request.group_id.is_empty() {
        return Err(ErrorCode::INVALID_GROUP_ID);
    }
    Ok(())
}

/// Gives an old LeaveGroup the form of version 3.
pub(crate) fn leave_members(version: i16, request: &mut LeaveGroupRequest) {
    if version < 3 {
        let member_id = request.member_id.clone();
        request.members = vec![MemberIdentity { member_id, ..MemberIdentity::default() }];
    }
}

/// Gives the topics of a commit their missing half, and each a code: NONE, UNKNOWN_TOPIC_OR_PARTITION (by name), UNKNOWN_TOPIC_ID (by id).
pub(crate) fn commit_topics(
    version: i16,
    request: &mut OffsetCommitRequest,
    topics: &impl TopicLookup,
) -> Vec<ErrorCode> {
    let resolve = |topic: &mut protocol::messages::offset_commit_request::OffsetCommitRequestTopic| {
        if version >= OFFSETS_BY_ID_VERSION {
            let Some(name) = topics.topic_name(topic.topic_id) else { return ErrorCode::UNKNOWN_TOPIC_ID };
            topic.name = name;
        } else {
            let Some(id) = topics.topic_id(&topic.name) else { return ErrorCode::UNKNOWN_TOPIC_OR_PARTITION };
            topic.topic_id = id;
        }
        ErrorCode::NONE
    };
    request.topics.iter_mut().map(resolve).collect()
}

/// Gives the topics of a fetch by id their names. Gives the indexes of those that aren't known.
pub(crate) fn offset_fetch_names(
    version: i16,
    request: &mut OffsetFetchRequestGroup,
    topics: &impl TopicLookup,
) -> Vec<usize> {
    if version < OFFSETS_BY_ID_VERSION {
        return Vec::new();
    }
    let asked = request.topics.as_deref_mut().unwrap_or_default().iter_mut().enumerate();
    let mut resolve =
        |(index, topic): (usize, &mut OffsetFetchRequestTopics)| match topics.topic_name(topic.topic_id) {
            Some(name) => {
                topic.name = name;
                None
            }
            None => Some(index),
        };
    asked.filter_map(&mut resolve).collect()
}

/// Finishes a fetch by id: topics that weren't known get UNKNOWN_TOPIC_ID; when all were asked for, those that are gone are left out.
pub(crate) fn offset_fetch_out(
    version: i16,
    mut response: OffsetFetchResponseGroup,
    unknown: &[usize],
    topics: &impl TopicLookup,
) -> OffsetFetchResponseGroup {
    if version < OFFSETS_BY_ID_VERSION {
        return response;
    }
    for &index in unknown {
        let Some(topic) = response.topics.get_mut(index) else { continue };
        for partition in &mut topic.partitions {
            *partition = OffsetFetchResponsePartitions {
                partition_index: partition.partition_index,
                committed_offset: -1,
                committed_leader_epoch: -1,
                metadata: Some(Str::default()),
                error_code: ErrorCode::UNKNOWN_TOPIC_ID.code(),
                ..OffsetFetchResponsePartitions::default()
            };
        }
    }
    response.topics.retain_mut(|topic| {
        if topic.topic_id.is_zero()
            && let Some(id) = topics.topic_id(&topic.name)
        {
            topic.topic_id = id;
        }
        !topic.topic_id.is_zero() || !unknown.is_empty()
    });
    response
}

/// A fetch that failed as a whole.
pub(crate) fn fetch_refusal(group_id: Str, code: ErrorCode) -> OffsetFetchResponseGroup {
    OffsetFetchResponseGroup { group_id, error_code: code.code(), ..OffsetFetchResponseGroup::default() }
}

/// The one group of an OffsetFetch below version 8. Version 1 has no null: no topics means none.
pub fn single_fetch(request: &OffsetFetchRequest) -> OffsetFetchRequestGroup {
    let topics = request.topics.as_ref().map(|topics| {
        let named = topics.iter().map(|topic| OffsetFetchRequestTopics {
            name: topic.name.clone(),
            partition_indexes: topic.partition_indexes.clone(),
            ..OffsetFetchRequestTopics::default()
        });
        named.collect()
    });
    OffsetFetchRequestGroup {
        group_id: request.group_id.clone(),
        topics,
        ..OffsetFetchRequestGroup::default()
    }
}

/// The response below version 8 to `request`, whose group's answer is `group`. A failure stands on top from version 2 on, on each
/// partition asked for in version 1.
pub fn single_fetch_response(
    version: i16,
    request: &OffsetFetchRequest,
    group: OffsetFetchResponseGroup,
) -> OffsetFetchResponse {
    let code = group.error_code;
    if version < 2 && code != 0 {
        let failed = request.topics.iter().flatten().map(|topic| OffsetFetchResponseTopic {
            name: topic.name.clone(),
            partitions: topic
                .partition_indexes
                .iter()
                .map(|&partition_index| OffsetFetchResponsePartition {
                    partition_index,
                    committed_offset: -1,
                    metadata: Some(Str::default()),
                    error_code: code,
                    ..OffsetFetchResponsePartition::default()
                })
                .collect(),
            ..OffsetFetchResponseTopic::default()
        });
        return OffsetFetchResponse { topics: failed.collect(), ..OffsetFetchResponse::default() };
    }
    let topics = group.topics.into_iter().map(|topic| OffsetFetchResponseTopic {
        name: topic.name,
        partitions: topic
            .partitions
            .into_iter()
            .map(|partition| OffsetFetchResponsePartition {
                partition_index: partition.partition_index,
                committed_offset: partition.committed_offset,
                committed_leader_epoch: partition.committed_leader_epoch,
                metadata: partition.metadata,
                error_code: partition.error_code,
                ..OffsetFetchResponsePartition::default()
            })
            .collect(),
        ..OffsetFetchResponseTopic::default()
    });
    OffsetFetchResponse { topics: topics.collect(), error_code: code, ..OffsetFetchResponse::default() }
}
