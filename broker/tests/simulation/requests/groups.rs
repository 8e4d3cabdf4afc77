//! What goes to group coordinators.

use bytes::Bytes;
use protocol::messages::join_group_request::JoinGroupRequestProtocol;
use protocol::messages::leave_group_request::MemberIdentity;
use protocol::messages::offset_commit_request::{OffsetCommitRequestPartition, OffsetCommitRequestTopic};
use protocol::messages::offset_fetch_request::{
    OffsetFetchRequestGroup, OffsetFetchRequestTopic, OffsetFetchRequestTopics,
};
use protocol::messages::sync_group_request::SyncGroupRequestAssignment;
use protocol::messages::{
    DeleteGroupsRequest, DescribeGroupsRequest, FindCoordinatorRequest, HeartbeatRequest, JoinGroupRequest,
    LeaveGroupRequest, ListGroupsRequest, OffsetCommitRequest, OffsetFetchRequest, SyncGroupRequest,
};
use protocol::types::Str;

use super::{Target, nowhere};

/// Someone in a group, or who says to be.
#[derive(Debug, Clone)]
pub(crate) struct Membership {
    pub(crate) group: Str,
    pub(crate) member: Str,
    pub(crate) instance: Option<Str>,
    pub(crate) generation: i32,
}

impl Membership {
    /// Of a group that has nobody of that name, or isn't there.
    pub(crate) fn invented(group: &str) -> Membership {
        Membership { group: group.into(), member: "nobody".into(), instance: None, generation: 12 }
    }
}

/// All types of coordinators.
pub(crate) fn find_coordinator(version: i16) -> Vec<FindCoordinatorRequest> {
    let asked = |key_type: i8, key: &str| match version {
        ..4 => FindCoordinatorRequest { key: key.into(), key_type, ..Default::default() },
        4.. => FindCoordinatorRequest {
            key_type,
            coordinator_keys: vec![key.into(), "another".into()],
            ..Default::default()
        },
    };
    match version {
        0 => vec![asked(0, "group"), asked(0, "")],
        1.. => [(0, "group"), (0, ""), (1, "transaction"), (2, "share"), (9, "what")]
            .map(|(t, key)| asked(t, key))
            .to_vec(),
        _ => vec![],
    }
}

pub(crate) fn join_group(who: &Membership) -> JoinGroupRequest {
    let protocol = JoinGroupRequestProtocol {
        name: "ours".into(),
        metadata: Bytes::from_static(b"what this member wants"),
        ..Default::default()
    };
    JoinGroupRequest {
        group_id: who.group.clone(),
        session_timeout_ms: 10_000,
        rebalance_timeout_ms: 10_000,
        member_id: who.member.clone(),
        group_instance_id: who.instance.clone(),
        protocol_type: "tests".into(),
        protocols: vec![protocol],
        ..Default::default()
    }
}

/// Joins that are refused.
pub(crate) fn bad_joins() -> Vec<JoinGroupRequest> {
    let who = Membership::invented("refusals");
    let good = join_group(&Membership { member: Str::default(), ..who.clone() });
    vec![
        join_group(&who),
        JoinGroupRequest { group_id: Str::default(), ..good.clone() },
        JoinGroupRequest { session_timeout_ms: 1, ..good.clone() },
        JoinGroupRequest { protocols: vec![], ..good },
    ]
}

pub(crate) fn sync_group(version: i16, who: &Membership) -> SyncGroupRequest {
    let assignment = SyncGroupRequestAssignment {
        member_id: who.member.clone(),
        assignment: Bytes::from_static(b"what this member gets"),
        ..Default::default()
    };
    SyncGroupRequest {
        group_id: who.group.clone(),
        generation_id: who.generation,
        member_id: who.member.clone(),
        group_instance_id: who.instance.clone().filter(|_| version >= 3),
        protocol_type: Some("tests".into()),
        protocol_name: Some("ours".into()),
        assignments: vec![assignment],
        ..Default::default()
    }
}

pub(crate) fn heartbeat(version: i16, who: &Membership) -> HeartbeatRequest {
    HeartbeatRequest {
        group_id: who.group.clone(),
        generation_id: who.generation,
        member_id: who.member.clone(),
        group_instance_id: who.instance.clone().filter(|_| version >= 3),
        ..Default::default()
    }
}

pub(crate) fn leave_group(version: i16, who: &Membership) -> LeaveGroupRequest {
    let group_id = who.group.clone();
    if version < 3 {
        return LeaveGroupRequest { group_id, member_id: who.member.clone(), ..Default::default() };
    }
    let identity = |member_id: &Str| MemberIdentity {
        member_id: member_id.clone(),
        group_instance_id: who.instance.clone(),
        ..Default::default()
    };
    let members = vec![identity(&who.member), identity(&"a stranger".into())];
    LeaveGroupRequest { group_id, members, ..Default::default() }
}

/// Commits to a topic that is there, to a partition it hasn't, to a topic that isn't.
pub(crate) fn offset_commit(version: i16, who: &Membership, target: &Target) -> OffsetCommitRequest {
    let at = |partition_index: i32, committed_offset: i64| OffsetCommitRequestPartition {
        partition_index,
        committed_offset,
        committed_metadata: Some("note".into()),
        ..Default::default()
    };
    let to = |topic: &Target| OffsetCommitRequestTopic {
        name: topic.name.clone(),
        topic_id: topic.id,
        partitions: vec![at(0, 1), at(77, 2)],
        ..Default::default()
    };
    OffsetCommitRequest {
        group_id: who.group.clone(),
        generation_id_or_member_epoch: who.generation,
        member_id: who.member.clone(),
        group_instance_id: who.instance.clone().filter(|_| version >= 7),
        topics: vec![to(target), to(&nowhere())],
        ..Default::default()
    }
}

/// What was committed to some partitions, and to all.
pub(crate) fn offset_fetch(version: i16, group: &Str, target: &Target) -> Vec<OffsetFetchRequest> {
    if version < 8 {
        let of = |topic: &Target| OffsetFetchRequestTopic {
            name: topic.name.clone(),
            partition_indexes: vec![0, 1, 77],
            ..Default::default()
        };
        let some = OffsetFetchRequest {
            group_id: group.clone(),
            topics: Some(vec![of(target), of(&nowhere())]),
            require_stable: version >= 7,
            ..Default::default()
        };
        let all = OffsetFetchRequest { topics: None, ..some.clone() };
        return if version >= 2 { vec![some, all] } else { vec![some] };
    }
    let of = |topic: &Target| OffsetFetchRequestTopics {
        name: topic.name.clone(),
        topic_id: topic.id,
        partition_indexes: vec![0, 1, 77],
        ..Default::default()
    };
    let asked = |group_id: &Str, topics: Option<Vec<OffsetFetchRequestTopics>>| OffsetFetchRequestGroup {
        group_id: group_id.clone(),
        topics,
        ..Default::default()
    };
    let unknown_member =
        OffsetFetchRequestGroup { member_id: Some("nobody".into()), member_epoch: 3, ..asked(group, None) };
    let groups = vec![
        asked(group, Some(vec![of(target), of(&nowhere())])),
        asked(group, None),
        asked(&"no such group".into(), None),
        asked(&Str::default(), None),
        unknown_member,
    ];
    vec![OffsetFetchRequest { groups, ..Default::default() }, OffsetFetchRequest::default()]
}

pub(crate) fn describe_groups(version: i16, group: &Str) -> Vec<DescribeGroupsRequest> {
    let groups = vec![group.clone(), "no such group".into(), Str::default()];
    let plain = DescribeGroupsRequest { groups, ..Default::default() };
    if version < 3 {
        return vec![plain];
    }
    vec![DescribeGroupsRequest { include_authorized_operations: true, ..plain.clone() }, plain]
}

pub(crate) fn list_groups(version: i16) -> Vec<ListGroupsRequest> {
    let mut requests = vec![ListGroupsRequest::default()];
    if version >= 4 {
        requests.push(ListGroupsRequest { states_filter: vec!["Stable".into()], ..Default::default() });
    }
    if version >= 5 {
        requests.push(ListGroupsRequest { types_filter: vec!["classic".into()], ..Default::default() });
    }
    requests
}

pub(crate) fn delete_groups(group: &Str) -> Vec<DeleteGroupsRequest> {
    let of = |groups_names: Vec<Str>| DeleteGroupsRequest { groups_names, ..Default::default() };
    vec![of(vec![group.clone(), "no such group".into(), Str::default()]), of(vec![])]
}
