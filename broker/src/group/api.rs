//! What depends on the version of a request: checks before the machine, and forms of old versions.

use protocol::error::ErrorCode;
use protocol::messages::leave_group_request::MemberIdentity;
use protocol::messages::offset_commit_request::OffsetCommitRequestTopic;
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
use super::request::{CommitTopic, GroupReply, GroupRequest};
use super::topics::TopicLookup;

/// From this version on offsets go by topic id only.
const OFFSETS_BY_ID_VERSION: i16 = 10;

/// Checks a request before the coordinator decides on it, gives old versions the form of new ones, and fills in what is known of topics.
///
/// # Errors
/// INVALID_GROUP_ID, INVALID_SESSION_TIMEOUT, INCONSISTENT_GROUP_PROTOCOL.
pub(crate) fn prepare(
    config: &GroupConfig,
    request: &mut GroupRequest,
    topics: &impl TopicLookup,
) -> Result<(), ErrorCode> {
    match request {
        GroupRequest::Join(request, joiner, _) => prejoin(config, joiner.api_version, request),
        GroupRequest::Sync(request, version) => presync_check(*version, request),
        GroupRequest::Heartbeat(request) => named(&request.group_id),
        GroupRequest::Leave(request, version) => {
            leave_members(*version, request);
            named(&request.group_id)
        }
        GroupRequest::Commit(request, known, version) => {
            *known = commit_topics(*version, request, topics);
            Ok(())
        }
        GroupRequest::Fetch(request, version) => {
            offset_fetch_names(*version, request, topics);
            Ok(())
        }
        GroupRequest::OffsetDelete(request) => named(&request.group_id),
        // Groups without a name had offsets once: they can be described and deleted.
        GroupRequest::List { .. }
        | GroupRequest::Describe(..)
        | GroupRequest::Delete(_)
        | GroupRequest::TopicsDeleted(_) => Ok(()),
    }
}

/// Gives the answer to `request` the form of its version.
pub(crate) fn finish(request: &GroupRequest, reply: GroupReply, topics: &impl TopicLookup) -> GroupReply {
    match (request, reply) {
        (GroupRequest::Join(_, joiner, _), GroupReply::Join(mut response)) => {
            // Before version 7 "no protocol" is an empty name.
            if joiner.api_version < 7 && response.protocol_name.is_none() {
                response.protocol_name = Some(Str::default());
            }
            GroupReply::Join(response)
        }
        // Up to version 2 one member leaves, and its code is the response's.
        (GroupRequest::Leave(_, ..3), GroupReply::Leave(mut response)) => {
            let code = response.members.first().map(|member| member.error_code);
            response.error_code = code.unwrap_or(response.error_code);
            response.members = Vec::new();
            GroupReply::Leave(response)
        }
        (GroupRequest::Fetch(_, version), GroupReply::Fetch(response)) => {
            GroupReply::Fetch(offset_fetch_out(*version, response, topics))
        }
        (_, reply) => reply,
    }
}

fn named(group_id: &Str) -> Result<(), ErrorCode> {
    if group_id.is_empty() { Err(ErrorCode::INVALID_GROUP_ID) } else { Ok(()) }
}

/// Checks a join and fills in what its version can't say.
///
/// # Errors
/// INVALID_GROUP_ID, INVALID_SESSION_TIMEOUT.
pub(crate) fn prejoin(
    config: &GroupConfig,
    version: i16,
    request: &mut JoinGroupRequest,
) -> Result<(), ErrorCode> {
    named(&request.group_id)?;
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
    named(&request.group_id)
}

/// Gives an old LeaveGroup the form of version 3.
pub(crate) fn leave_members(version: i16, request: &mut LeaveGroupRequest) {
    if version < 3 {
        let member_id = request.member_id.clone();
        request.members = vec![MemberIdentity { member_id, ..MemberIdentity::default() }];
    }
}

/// Gives the topics of a commit their missing half, and tells of each: NONE, UNKNOWN_TOPIC_OR_PARTITION (by name), UNKNOWN_TOPIC_ID (by id).
pub(crate) fn commit_topics(
    version: i16,
    request: &mut OffsetCommitRequest,
    topics: &impl TopicLookup,
) -> Vec<CommitTopic> {
    let unknown = |code| CommitTopic { code, partitions: 0 };
    let resolve = |topic: &mut OffsetCommitRequestTopic| {
        if version >= OFFSETS_BY_ID_VERSION {
            match topics.topic_name(topic.topic_id) {
                Some(name) => topic.name = name,
                None => return unknown(ErrorCode::UNKNOWN_TOPIC_ID),
            }
        } else {
            match topics.topic_id(&topic.name) {
                Some(id) => topic.topic_id = id,
                None => return unknown(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION),
            }
        }
        CommitTopic { code: ErrorCode::NONE, partitions: topics.partitions(topic.topic_id) }
    };
    request.topics.iter_mut().map(resolve).collect()
}

/// Gives the topics of a fetch by id their names; one that isn't known stays without.
pub(crate) fn offset_fetch_names(
    version: i16,
    request: &mut OffsetFetchRequestGroup,
    topics: &impl TopicLookup,
) {
    if version >= OFFSETS_BY_ID_VERSION {
        for topic in request.topics.iter_mut().flatten() {
            topic.name = topics.topic_name(topic.topic_id).unwrap_or_default();
        }
    }
}

/// Finishes a fetch by id: topics that weren't known get UNKNOWN_TOPIC_ID; when all were asked for, those that are gone are left out.
pub(crate) fn offset_fetch_out(
    version: i16,
    mut response: OffsetFetchResponseGroup,
    topics: &impl TopicLookup,
) -> OffsetFetchResponseGroup {
    if version < OFFSETS_BY_ID_VERSION {
        return response;
    }
    response.topics.retain_mut(|topic| {
        if topic.name.is_empty() {
            topic.partitions.iter_mut().for_each(unknown_topic_id);
            return true;
        }
        if topic.topic_id.is_zero() {
            topic.topic_id = topics.topic_id(&topic.name).unwrap_or_default();
        }
        !topic.topic_id.is_zero()
    });
    response
}

fn unknown_topic_id(partition: &mut OffsetFetchResponsePartitions) {
    *partition = OffsetFetchResponsePartitions {
        partition_index: partition.partition_index,
        committed_offset: -1,
        committed_leader_epoch: -1,
        metadata: Some(Str::default()),
        error_code: ErrorCode::UNKNOWN_TOPIC_ID.code(),
        ..OffsetFetchResponsePartitions::default()
    };
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
