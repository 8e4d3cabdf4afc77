//! Deciding on Heartbeat and LeaveGroup.

use std::collections::BTreeSet;

use protocol::error::ErrorCode;
use protocol::messages::leave_group_request::MemberIdentity;
use protocol::messages::leave_group_response::MemberResponse;
use protocol::messages::{HeartbeatRequest, LeaveGroupRequest, LeaveGroupResponse};
use protocol::types::Str;

use super::change::ClassicChange;
use super::group::{ClassicGroup, GroupState};
use crate::group::coordinator::Decision;
use crate::group::decider::{GroupChange, GroupDecider};
use crate::group::request::GroupReply;

/// Decides on a heartbeat: O(log members).
pub(crate) fn decide_heartbeat(
    group: Option<&ClassicGroup>,
    request: &HeartbeatRequest,
) -> Decision<GroupDecider> {
    let refuse = |code| Decision::reply(GroupReply::Code(code));
    let Some(group) = group else { return refuse(ErrorCode::UNKNOWN_MEMBER_ID) };
    if let Err(code) = group.check_member(&request.member_id, request.group_instance_id.as_deref()) {
        return refuse(code);
    }
    if request.generation_id != group.generation {
        return refuse(ErrorCode::ILLEGAL_GENERATION);
    }
    let code = match group.state {
        GroupState::Empty => return refuse(ErrorCode::UNKNOWN_MEMBER_ID),
        GroupState::PreparingRebalance => ErrorCode::REBALANCE_IN_PROGRESS,
        GroupState::CompletingRebalance | GroupState::Stable => ErrorCode::NONE,
    };
    let change = ClassicChange::Heard { member_id: request.member_id.clone() };
    let changes = vec![GroupChange::Classic { group: group.id.clone(), change }];
    Decision { changes, ..Decision::reply(GroupReply::Code(code)) }
}

/// Decides on members that leave; each has a code of its own, and the whole has none.
pub(crate) fn decide_leave(
    group: Option<&ClassicGroup>,
    request: &LeaveGroupRequest,
) -> Decision<GroupDecider> {
    let mut leaving = BTreeSet::new();
    let members = request.members.iter().map(|identity| {
        let code = match group.map_or(Err(ErrorCode::UNKNOWN_MEMBER_ID), |group| resolve(group, identity)) {
            Ok(id) if leaving.insert(Str::clone(&id)) => ErrorCode::NONE,
            Ok(_) => ErrorCode::UNKNOWN_MEMBER_ID,
            Err(code) => code,
        };
        MemberResponse {
            member_id: identity.member_id.clone(),
            group_instance_id: identity.group_instance_id.clone(),
            error_code: code.code(),
            ..MemberResponse::default()
        }
    });
    let members = members.collect();
    let reply = GroupReply::Leave(LeaveGroupResponse { members, ..LeaveGroupResponse::default() });
    let changes = group.filter(|_| !leaving.is_empty()).map(|group| GroupChange::Classic {
        group: group.id.clone(),
        change: ClassicChange::Remove { member_ids: leaving.into_iter().collect(), by_leave: true },
    });
    Decision { changes: changes.into_iter().collect(), ..Decision::reply(reply) }
}

/// Whom an identity means: an administrator names a static member by its instance id alone.
fn resolve(group: &ClassicGroup, identity: &MemberIdentity) -> Result<Str, ErrorCode> {
    let instance_id = identity.group_instance_id.as_deref();
    if identity.member_id.is_empty() {
        let holder = instance_id.and_then(|instance_id| group.statics.get(instance_id));
        return holder.cloned().ok_or(ErrorCode::UNKNOWN_MEMBER_ID);
    }
    if !group.pending.contains(&identity.member_id) {
        group.check_member(&identity.member_id, instance_id)?;
    }
    Ok(identity.member_id.detached())
}
