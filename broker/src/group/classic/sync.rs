//! Deciding on SyncGroup.

use std::collections::BTreeMap;

use bytes::Bytes;
use protocol::error::ErrorCode;
use protocol::messages::{SyncGroupRequest, SyncGroupResponse};
use protocol::types::Str;

use super::change::ClassicChange;
use super::group::{ClassicGroup, GroupState};
use super::member::Member;
use super::record::group_value;
use crate::group::coordinator::{Decision, WaiterId};
use crate::group::decider::{GroupChange, GroupDecider};
use crate::group::record::Record;
use crate::group::request::GroupReply;

/// Decides on a member's request for its assignment; the leader's brings all assignments, and the group's record with it.
pub(crate) fn decide_sync(
    group: Option<&ClassicGroup>,
    request: &SyncGroupRequest,
    waiter: WaiterId,
) -> Decision<GroupDecider> {
    let Some(group) = group.filter(|group| group.state != GroupState::Empty) else {
        return refuse(ErrorCode::UNKNOWN_MEMBER_ID);
    };
    if let Err(code) = check(group, request) {
        return refuse(code);
    }
    let change = |change| GroupChange::Classic { group: group.id.clone(), change };
    let member_id = request.member_id.clone();
    match group.state {
        GroupState::Empty | GroupState::PreparingRebalance => refuse(ErrorCode::REBALANCE_IN_PROGRESS),
        GroupState::CompletingRebalance if group.is_leader(&member_id) => {
            let Ok(record) = Record::group(&group.id, &assigned(group, request)) else {
                return refuse(ErrorCode::UNKNOWN_SERVER_ERROR);
            };
            Decision {
                records: vec![record],
                changes: vec![
                    change(ClassicChange::AwaitSync { member_id, waiter }),
                    change(ClassicChange::Synced),
                ],
                // The others wait for these assignments: they are sent into another round.
                otherwise: vec![change(ClassicChange::Rebalance)],
                ..Decision::nothing()
            }
        }
        GroupState::CompletingRebalance => {
            Decision::change(change(ClassicChange::AwaitSync { member_id, waiter }))
        }
        GroupState::Stable => {
            let reply = group.members.get(&member_id).map(|member| synced(group, member));
            Decision {
                changes: vec![change(ClassicChange::SyncSeen { member_id })],
                ..Decision::reply(reply.unwrap_or_else(|| sync_refusal(ErrorCode::UNKNOWN_MEMBER_ID)))
            }
        }
    }
}

fn check(group: &ClassicGroup, request: &SyncGroupRequest) -> Result<(), ErrorCode> {
    group.check_member(&request.member_id, request.group_instance_id.as_deref())?;
    if request.generation_id != group.generation {
        return Err(ErrorCode::ILLEGAL_GENERATION);
    }
    // Both are null before version 5.
    let differs = |asked: &Option<Str>, chosen: &Option<Str>| asked.as_ref().is_some_and(|_| asked != chosen);
    if differs(&request.protocol_type, &group.protocol_type)
        || differs(&request.protocol_name, &group.protocol_name)
    {
        return Err(ErrorCode::INCONSISTENT_GROUP_PROTOCOL);
    }
    Ok(())
}

/// The group's record with the leader's assignments: a member it left out gets an empty one, a stranger's is ignored.
fn assigned(group: &ClassicGroup, request: &SyncGroupRequest) -> protocol::internal::GroupMetadataValue {
    let assignments: BTreeMap<&Str, &Bytes> =
        request.assignments.iter().map(|entry| (&entry.member_id, &entry.assignment)).collect();
    group_value(group, |id| assignments.get(id).map(|bytes| Bytes::clone(bytes)).unwrap_or_default())
}

/// A member's answer once the group is stable.
pub(crate) fn synced(group: &ClassicGroup, member: &Member) -> GroupReply {
    GroupReply::Sync(SyncGroupResponse {
        protocol_type: group.protocol_type.clone(),
        protocol_name: group.protocol_name.clone(),
        assignment: member.assignment.clone(),
        ..SyncGroupResponse::default()
    })
}

/// A sync that failed.
pub(crate) fn sync_refusal(code: ErrorCode) -> GroupReply {
    GroupReply::Sync(SyncGroupResponse { error_code: code.code(), ..SyncGroupResponse::default() })
}

fn refuse(code: ErrorCode) -> Decision<GroupDecider> {
    Decision::reply(sync_refusal(code))
}
