//! Deciding on JoinGroup.

use bytes::Bytes;
use protocol::error::ErrorCode;
use protocol::messages::join_group_response::JoinGroupResponseMember;
use protocol::messages::{JoinGroupRequest, JoinGroupResponse};
use protocol::types::{Str, Uuid};

use super::change::{ClassicChange, MemberUpdate};
use super::group::{ClassicGroup, GroupState};
use super::member::{Member, Protocols};
use super::record::group_value;
use crate::group::config::GroupConfig;
use crate::group::coordinator::{Decision, WaiterId};
use crate::group::decider::{GroupChange, GroupDecider};
use crate::group::limits::{PENDING_MEMBERS_MAX, PROTOCOLS_PER_MEMBER_MAX};
use crate::group::record::Record;
use crate::group::request::{GroupReply, Joiner};

/// From this version on a new dynamic member is given its id first and joins with it (KIP-394), so that a client that gives up leaves no ghost.
const KNOWN_MEMBER_ID_VERSION: i16 = 4;
/// From this version on a static leader that comes back may be told to skip the assignment (KIP-814).
const SKIP_ASSIGNMENT_VERSION: i16 = 9;

/// A join on its way to a decision.
pub(crate) struct Join<'a> {
    /// The group as it is.
    pub group: &'a ClassicGroup,
    /// Settings.
    pub config: &'a GroupConfig,
    /// What is asked.
    pub request: &'a JoinGroupRequest,
    /// By whom.
    pub joiner: &'a Joiner,
    /// Makes a new member's id unique.
    pub uuid: Uuid,
    /// Who waits for the answer.
    pub waiter: WaiterId,
    /// What the member offers, bounded and in buffers of its own.
    pub protocols: Protocols,
}

impl<'a> Join<'a> {
    /// Prepares the decision; the group may be one that doesn't exist yet.
    pub(crate) fn new(
        group: &'a ClassicGroup,
        config: &'a GroupConfig,
        request: &'a JoinGroupRequest,
        joiner: &'a Joiner,
        uuid: Uuid,
        waiter: WaiterId,
    ) -> Self {
        let mut protocols: Protocols = Vec::new();
        for protocol in &request.protocols {
            if protocols.len() < PROTOCOLS_PER_MEMBER_MAX
                && !protocols.iter().any(|(name, _)| *name == protocol.name)
            {
                protocols.push((protocol.name.detached(), Bytes::copy_from_slice(&protocol.metadata)));
            }
        }
        Self { group, config, request, joiner, uuid, waiter, protocols }
    }

    /// Decides.
    pub(crate) fn decide(self) -> Decision<GroupDecider> {
        let member_id = self.request.member_id.clone();
        let is_new = member_id.is_empty();
        if !self.has_room() {
            let refuse = self.change(ClassicChange::Refuse { member_id });
            let reply = refusal(Str::default(), ErrorCode::GROUP_MAX_SIZE_REACHED);
            return Decision { changes: vec![refuse], ..Decision::reply(reply) };
        }
        if !self.group.supports(&self.request.protocol_type, &self.protocols) {
            return Decision::reply(refusal(member_id, ErrorCode::INCONSISTENT_GROUP_PROTOCOL));
        }
        if is_new { self.decide_new() } else { self.decide_known(member_id) }
    }

    /// Counts who waits while joining, members after it: so that the last ones to rejoin are the ones put out when the limit was lowered.
    fn has_room(&self) -> bool {
        let member = self.group.members.get(&self.request.member_id);
        match self.group.state {
            GroupState::Empty => true,
            GroupState::PreparingRebalance => {
                member.is_some_and(|member| member.join.is_some())
                    || self.group.awaiting_join < self.config.max_size
            }
            GroupState::CompletingRebalance | GroupState::Stable => {
                member.is_some() || self.group.members.len() < self.config.max_size
            }
        }
    }

    fn decide_new(self) -> Decision<GroupDecider> {
        let uuid = hyphenated(self.uuid);
        if let Some(instance_id) = &self.request.group_instance_id {
            let new_id = Str::from(format!("{}-{uuid}", instance_id.as_str()));
            return match self.group.statics.get(instance_id).cloned() {
                Some(old_id) => self.decide_replacement(old_id, new_id),
                None => self.add(new_id),
            };
        }
        let new_id = Str::from(format!("{}-{uuid}", self.joiner.client_id.as_str()));
        if self.joiner.api_version < KNOWN_MEMBER_ID_VERSION {
            return self.add(new_id);
        }
        if self.group.pending.len() >= PENDING_MEMBERS_MAX {
            return Decision::reply(refusal(Str::default(), ErrorCode::GROUP_MAX_SIZE_REACHED));
        }
        let session_timeout_ms = self.request.session_timeout_ms;
        let pending = ClassicChange::AddPending { member_id: new_id.clone(), session_timeout_ms };
        let changes = vec![self.change(pending)];
        Decision { changes, ..Decision::reply(refusal(new_id, ErrorCode::MEMBER_ID_REQUIRED)) }
    }

    fn decide_known(self, member_id: Str) -> Decision<GroupDecider> {
        let instance_id = self.request.group_instance_id.as_deref();
        if instance_id.is_none() && self.group.pending.contains(&member_id) {
            return self.add(member_id.detached());
        }
        if let Err(code) = self.group.check_member(&member_id, instance_id) {
            return Decision::reply(refusal(member_id, code));
        }
        let Some(member) = self.group.members.get(&member_id) else {
            return Decision::reply(refusal(member_id, ErrorCode::UNKNOWN_MEMBER_ID));
        };
        let unchanged = member.protocols == self.protocols;
        match self.group.state {
            GroupState::Empty => Decision::reply(refusal(member_id, ErrorCode::UNKNOWN_MEMBER_ID)),
            GroupState::PreparingRebalance => self.update(member_id),
            // It may have missed the answer to its join: it gets it again.
            GroupState::CompletingRebalance if unchanged => {
                Decision::reply(GroupReply::Join(joined(self.group, &member_id)))
            }
            // A follower without news goes on in this generation; a leader that joins again has seen something that changes the assignment.
            GroupState::Stable if unchanged && !self.group.is_leader(&member_id) => {
                Decision::reply(GroupReply::Join(joined(self.group, &member_id)))
            }
            GroupState::CompletingRebalance | GroupState::Stable => self.update(member_id),
        }
    }

    /// A static member is back under a new id. In a stable group whose protocol stays the same nobody else needs to know: the group's record
    /// moves the assignment over.
    fn decide_replacement(self, old_id: Str, new_id: Str) -> Decision<GroupDecider> {
        let stays = self.group.select_protocol_with(&old_id, &self.protocols) == self.group.protocol_name;
        if self.group.state != GroupState::Stable || !stays {
            let waiter = Some(self.waiter);
            let replace =
                ClassicChange::ReplaceStatic { old_id, new_id, update: self.member_update(), waiter };
            return Decision {
                changes: vec![self.change(replace), self.change(ClassicChange::Rebalance)],
                ..Decision::nothing()
            };
        }
        let replaced = self.replaced(&old_id, &new_id);
        let assignments = |id: &Str| replaced.members.get(id).map(|member| member.assignment.clone());
        let value = group_value(&replaced, |id| assignments(id).unwrap_or_default());
        let Ok(record) = Record::group(&self.group.id, &value) else {
            return Decision::reply(refusal(Str::default(), ErrorCode::UNKNOWN_SERVER_ERROR));
        };
        let reply = self.replacement_reply(&replaced, &new_id);
        let update = self.member_update();
        let replace = ClassicChange::ReplaceStatic { old_id, new_id, update, waiter: None };
        Decision {
            records: vec![record],
            changes: vec![self.change(replace)],
            ..Decision::reply(GroupReply::Join(reply))
        }
    }

    /// The group as it will be; O(members), once a restart of a static member.
    fn replaced(&self, old_id: &Str, new_id: &Str) -> ClassicGroup {
        let mut group = self.group.clone();
        let was_leader = group.is_leader(old_id);
        let protocol_type = group.protocol_type.clone().unwrap_or_default();
        if let Some(mut member) = group.remove(old_id) {
            self.member_update().put_into(&mut member);
            group.insert(new_id.clone(), member, &protocol_type);
        }
        if was_leader {
            group.leader = Some(new_id.clone());
        }
        group
    }

    /// Before version 9 a leader can't be told to skip the assignment, so it is shown its old id as the leader: it takes itself for a follower.
    fn replacement_reply(&self, replaced: &ClassicGroup, new_id: &Str) -> JoinGroupResponse {
        let mut reply = joined(replaced, new_id);
        if self.joiner.api_version >= SKIP_ASSIGNMENT_VERSION {
            reply.skip_assignment = replaced.is_leader(new_id);
        } else {
            reply.members = Vec::new();
            reply.leader = self.group.leader.clone().unwrap_or_default();
        }
        reply
    }

    fn add(self, member_id: Str) -> Decision<GroupDecider> {
        let member = Member {
            instance_id: self.request.group_instance_id.as_ref().map(Str::detached),
            client_id: self.joiner.client_id.detached(),
            client_host: self.joiner.client_host.detached(),
            rebalance_timeout_ms: self.request.rebalance_timeout_ms,
            session_timeout_ms: self.request.session_timeout_ms,
            protocols: self.protocols.clone(),
            assignment: Bytes::new(),
            join: Some(self.waiter),
            sync: None,
            is_new: true,
        };
        let protocol_type = self.request.protocol_type.detached();
        Decision::change(self.change(ClassicChange::Add {
            member_id,
            member: Box::new(member),
            protocol_type,
        }))
    }

    fn update(self, member_id: Str) -> Decision<GroupDecider> {
        let update = self.member_update();
        Decision::change(self.change(ClassicChange::Update { member_id, update, waiter: self.waiter }))
    }

    fn member_update(&self) -> Box<MemberUpdate> {
        Box::new(MemberUpdate {
            protocols: self.protocols.clone(),
            rebalance_timeout_ms: self.request.rebalance_timeout_ms,
            session_timeout_ms: self.request.session_timeout_ms,
        })
    }

    fn change(&self, change: ClassicChange) -> GroupChange {
        GroupChange::Classic { group: self.group.id.clone(), change }
    }
}

impl MemberUpdate {
    /// Replaces what the member said before.
    pub(crate) fn put_into(self, member: &mut Member) {
        member.protocols = self.protocols;
        member.rebalance_timeout_ms = self.rebalance_timeout_ms;
        member.session_timeout_ms = self.session_timeout_ms;
    }
}

/// A join that failed.
pub(crate) fn refusal(member_id: Str, code: ErrorCode) -> GroupReply {
    GroupReply::Join(JoinGroupResponse { member_id, error_code: code.code(), ..JoinGroupResponse::default() })
}

/// The answer to a member's join in the current generation. Only the leader gets the members, so that all answers together stay O(members).
pub(crate) fn joined(group: &ClassicGroup, member_id: &Str) -> JoinGroupResponse {
    let members = if group.is_leader(member_id) { member_list(group) } else { Vec::new() };
    JoinGroupResponse {
        generation_id: group.generation,
        protocol_type: group.protocol_type.clone(),
        protocol_name: group.protocol_name.clone(),
        leader: group.leader.clone().unwrap_or_default(),
        member_id: member_id.clone(),
        members,
        ..JoinGroupResponse::default()
    }
}

fn member_list(group: &ClassicGroup) -> Vec<JoinGroupResponseMember> {
    let protocol = group.protocol_name.as_deref().unwrap_or_default();
    let entry = |(id, member): (&Str, &Member)| JoinGroupResponseMember {
        member_id: id.clone(),
        group_instance_id: member.instance_id.clone(),
        metadata: member.metadata(protocol),
        ..JoinGroupResponseMember::default()
    };
    group.members.iter().map(entry).collect()
}

/// A UUID in its usual form, as Kafka's member ids have it.
fn hyphenated(uuid: Uuid) -> String {
    let hex: String = uuid.0.iter().map(|byte| format!("{byte:02x}")).collect();
    [&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]].join("-")
}
