//! The requests of a group member.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;

use bytes::Bytes;
use client::{Cluster, Node};
use protocol::error::ErrorCode;
use protocol::messages::join_group_request::JoinGroupRequestProtocol;
use protocol::messages::leave_group_request::MemberIdentity;
use protocol::messages::offset_commit_request::{OffsetCommitRequestPartition, OffsetCommitRequestTopic};
use protocol::messages::offset_fetch_request::{
    OffsetFetchRequestGroup, OffsetFetchRequestTopic, OffsetFetchRequestTopics,
};
use protocol::messages::sync_group_request::SyncGroupRequestAssignment;
use protocol::messages::{
    FindCoordinatorRequest, HeartbeatRequest, JoinGroupRequest, JoinGroupResponse, LeaveGroupRequest,
    OffsetCommitRequest, OffsetFetchRequest, SyncGroupRequest,
};

use super::assign;
use crate::engine::ShardContext;
use crate::link::{Link, LinkError};

/// Highest versions filled here: all name topics.
const FIND_COORDINATOR_MAX: i16 = 4;
const JOIN_MAX: i16 = 9;
const SYNC_MAX: i16 = 5;
const HEARTBEAT_MAX: i16 = 4;
const COMMIT_MAX: i16 = 8;
const OFFSETS_MAX: i16 = 8;
const LEAVE_MAX: i16 = 5;
/// First version of OffsetFetch that asks by group.
const OFFSETS_BY_GROUP_FROM: i16 = 8;
/// First version of LeaveGroup that lists members.
const LEAVE_LIST_FROM: i16 = 3;
const PROTOCOL: &str = "roundrobin";
/// How long a rebalance may take.
pub(super) const REBALANCE_TIMEOUT_MS: i32 = 60_000;

/// Why a call didn't do what it should.
#[derive(Debug)]
pub(super) enum CallError {
    /// The way to the coordinator.
    Link(LinkError),
    /// The coordinator's word.
    Code(ErrorCode),
}

impl CallError {
    /// As it is counted.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Link(_) => "group connection",
            Self::Code(code) => code.name(),
        }
    }
}

impl From<LinkError> for CallError {
    fn from(error: LinkError) -> Self {
        Self::Link(error)
    }
}

fn check(code: i16) -> Result<(), CallError> {
    match ErrorCode::from_code(code) {
        ErrorCode::NONE => Ok(()),
        code => Err(CallError::Code(code)),
    }
}

fn encoded<T>(result: Result<T, protocol::wire::EncodeError>) -> Result<T, CallError> {
    result.map_err(|error| LinkError::Answer(error.to_string()).into())
}

/// A member's place in its group: the connection to the coordinator, and who it is.
#[derive(Debug)]
pub(super) struct Seat {
    pub(super) context: Rc<ShardContext>,
    pub(super) link: Link,
    pub(super) group: String,
    pub(super) member_id: String,
    pub(super) generation: i32,
}

impl Seat {
    /// Finds the coordinator and connects to it, as the member it was before, if any.
    pub(super) async fn take(
        context: Rc<ShardContext>,
        group: &str,
        member_id: &str,
    ) -> Result<Self, CallError> {
        let any = context.directory.any_link().await?;
        let asked = any.call::<FindCoordinatorRequest>(FIND_COORDINATOR_MAX, Duration::ZERO, |version| {
            Cluster::coordinator_request(group, version)
        });
        let answer = asked.await?;
        let mut cluster = Cluster::new();
        cluster.take_coordinator(group, &answer).map_err(|error| {
            error.code().map_or_else(|| LinkError::Answer(error.to_string()).into(), CallError::Code)
        })?;
        let address = cluster.coordinator(group).map(Node::address);
        let address = address.ok_or_else(|| LinkError::Answer("no coordinator was named".into()))?;
        let link = Link::connect(&address, Rc::default()).await?;
        Ok(Self { context, link, group: group.to_owned(), member_id: member_id.to_owned(), generation: -1 })
    }

    /// Joins and gets its slots. A member without an id gets one first (KIP-394).
    pub(super) async fn join(&mut self, session_timeout_ms: u32) -> Result<Vec<u32>, CallError> {
        let mut joined = self.ask_to_join(session_timeout_ms).await?;
        if ErrorCode::from_code(joined.error_code) == ErrorCode::MEMBER_ID_REQUIRED {
            self.member_id = joined.member_id.to_string();
            joined = self.ask_to_join(session_timeout_ms).await?;
        }
        check(joined.error_code)?;
        self.member_id = joined.member_id.to_string();
        self.generation = joined.generation_id;
        self.sync(&joined).await
    }

    async fn ask_to_join(&self, session_timeout_ms: u32) -> Result<JoinGroupResponse, CallError> {
        let metadata = encoded(assign::subscription(&self.context.plan.layout))?;
        let extra = Duration::from_millis(REBALANCE_TIMEOUT_MS as u64);
        let request = |_| JoinGroupRequest {
            group_id: (&self.group).into(),
            session_timeout_ms: session_timeout_ms as i32,
            rebalance_timeout_ms: REBALANCE_TIMEOUT_MS,
            member_id: (&self.member_id).into(),
            protocol_type: "consumer".into(),
            protocols: vec![JoinGroupRequestProtocol {
                name: PROTOCOL.into(),
                metadata,
                ..Default::default()
            }],
            ..JoinGroupRequest::default()
        };
        Ok(self.link.call::<JoinGroupRequest>(JOIN_MAX, extra, request).await?)
    }

    async fn sync(&mut self, joined: &JoinGroupResponse) -> Result<Vec<u32>, CallError> {
        let assignments =
            if joined.leader == joined.member_id { self.assignments(joined)? } else { Vec::new() };
        let extra = Duration::from_millis(REBALANCE_TIMEOUT_MS as u64);
        let request = |version| {
            let known = version >= 5;
            SyncGroupRequest {
                group_id: (&self.group).into(),
                generation_id: self.generation,
                member_id: (&self.member_id).into(),
                protocol_type: known.then(|| "consumer".into()),
                protocol_name: known.then(|| PROTOCOL.into()),
                assignments,
                ..SyncGroupRequest::default()
            }
        };
        let answer = self.link.call::<SyncGroupRequest>(SYNC_MAX, extra, request).await?;
        check(answer.error_code)?;
        let slots = assign::decode(&self.context.plan.layout, &answer.assignment);
        slots.map_err(|error| LinkError::Answer(format!("an assignment that can't be read: {error}")).into())
    }

    fn assignments(&self, joined: &JoinGroupResponse) -> Result<Vec<SyncGroupRequestAssignment>, CallError> {
        let layout = &self.context.plan.layout;
        let members: Vec<String> = joined.members.iter().map(|member| member.member_id.to_string()).collect();
        let dealt = assign::deal(&members, layout.slots());
        let one = |(member, slots): (String, Vec<u32>)| {
            let assignment: Bytes = encoded(assign::encode(layout, &slots))?;
            Ok(SyncGroupRequestAssignment { member_id: member.into(), assignment, ..Default::default() })
        };
        dealt.into_iter().map(one).collect()
    }

    pub(super) async fn heartbeat(&self) -> Result<(), CallError> {
        let request = |_| HeartbeatRequest {
            group_id: (&self.group).into(),
            generation_id: self.generation,
            member_id: (&self.member_id).into(),
            ..HeartbeatRequest::default()
        };
        check(self.link.call::<HeartbeatRequest>(HEARTBEAT_MAX, Duration::ZERO, request).await?.error_code)
    }

    /// Commits positions.
    pub(super) async fn commit(&self, positions: &[(u32, i64)]) -> Result<(), CallError> {
        if positions.is_empty() {
            return Ok(());
        }
        let mut topics: BTreeMap<u32, OffsetCommitRequestTopic> = BTreeMap::new();
        for (slot, offset) in positions {
            let (topic, partition) = self.context.plan.layout.place(*slot);
            let entry = topics.entry(topic.first).or_insert_with(|| OffsetCommitRequestTopic {
                name: topic.name.clone(),
                ..Default::default()
            });
            entry.partitions.push(OffsetCommitRequestPartition {
                partition_index: partition,
                committed_offset: *offset,
                ..Default::default()
            });
        }
        let request = |_| OffsetCommitRequest {
            group_id: (&self.group).into(),
            generation_id_or_member_epoch: self.generation,
            member_id: (&self.member_id).into(),
            topics: topics.into_values().collect(),
            ..OffsetCommitRequest::default()
        };
        let answer = self.link.call::<OffsetCommitRequest>(COMMIT_MAX, Duration::ZERO, request).await?;
        let mut codes =
            answer.topics.iter().flat_map(|topic| &topic.partitions).map(|found| found.error_code);
        codes.try_for_each(check)
    }

    /// The committed offsets of slots, where there are any.
    pub(super) async fn committed(&self, slots: &[u32]) -> Result<BTreeMap<u32, i64>, CallError> {
        let layout = &self.context.plan.layout;
        let mut topics: BTreeMap<u32, (protocol::types::Str, Vec<i32>)> = BTreeMap::new();
        for slot in slots {
            let (topic, partition) = layout.place(*slot);
            topics.entry(topic.first).or_insert_with(|| (topic.name.clone(), Vec::new())).1.push(partition);
        }
        let request = |version| offsets_request(version, &self.group, topics);
        let answer = self.link.call::<OffsetFetchRequest>(OFFSETS_MAX, Duration::ZERO, request).await?;
        check(answer.error_code)?;
        let mut committed = BTreeMap::new();
        let mut note = |name: &protocol::types::Str, partition, offset: i64| {
            let slot = layout.find(name, Default::default(), partition);
            committed.extend(slot.filter(|_| offset >= 0).map(|slot| (slot, offset)));
        };
        for topic in &answer.topics {
            topic
                .partitions
                .iter()
                .for_each(|found| note(&topic.name, found.partition_index, found.committed_offset));
        }
        for group in &answer.groups {
            check(group.error_code)?;
            for topic in &group.topics {
                topic
                    .partitions
                    .iter()
                    .for_each(|found| note(&topic.name, found.partition_index, found.committed_offset));
            }
        }
        Ok(committed)
    }

    pub(super) async fn leave(&self) -> Result<(), CallError> {
        let request = |version| {
            let mut request =
                LeaveGroupRequest { group_id: (&self.group).into(), ..LeaveGroupRequest::default() };
            if version >= LEAVE_LIST_FROM {
                request.members =
                    vec![MemberIdentity { member_id: (&self.member_id).into(), ..Default::default() }];
            } else {
                request.member_id = (&self.member_id).into();
            }
            request
        };
        check(self.link.call::<LeaveGroupRequest>(LEAVE_MAX, Duration::ZERO, request).await?.error_code)
    }
}

fn offsets_request(
    version: i16,
    group: &str,
    topics: BTreeMap<u32, (protocol::types::Str, Vec<i32>)>,
) -> OffsetFetchRequest {
    let mut request = OffsetFetchRequest::default();
    let topics = topics.into_values();
    if version >= OFFSETS_BY_GROUP_FROM {
        let topics = topics.map(|(name, partition_indexes)| OffsetFetchRequestTopics {
            name,
            partition_indexes,
            ..Default::default()
        });
        request.groups = vec![OffsetFetchRequestGroup {
            group_id: group.into(),
            topics: Some(topics.collect()),
            ..Default::default()
        }];
    } else {
        request.group_id = group.into();
        let topics = topics.map(|(name, partition_indexes)| OffsetFetchRequestTopic {
            name,
            partition_indexes,
            ..Default::default()
        });
        request.topics = Some(topics.collect());
    }
    request
}
