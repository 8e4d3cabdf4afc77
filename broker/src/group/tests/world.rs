//! A coordinator with its clock and its members' side.

use std::collections::BTreeMap;
use std::rc::Rc;

use bytes::Bytes;
use protocol::error::ErrorCode;
use protocol::internal::{ConsumerProtocolSubscription, encode_versioned};
use protocol::messages::join_group_request::JoinGroupRequestProtocol;
use protocol::messages::offset_commit_request::{OffsetCommitRequestPartition, OffsetCommitRequestTopic};
use protocol::messages::offset_fetch_request::OffsetFetchRequestGroup;
use protocol::messages::sync_group_request::SyncGroupRequestAssignment;
use protocol::messages::*;
use protocol::types::{Str, Uuid};

use crate::group::classic::{ClassicGroup, GroupState};
use crate::group::config::GroupConfig;
use crate::group::coordinator::memory_log::MemoryLog;
use crate::group::coordinator::{
    Answer, Asked, CoordinatorLog, Decider, Entry, EntryContent, Now, Runtime, WaiterId,
};
use crate::group::decider::GroupDecider;
use crate::group::request::{GroupReply, GroupRequest, Joiner};

pub(super) const GROUP: &str = "g";
pub(super) const SESSION_MS: i32 = 10_000;
pub(super) const REBALANCE_MS: i32 = 60_000;
pub(super) const TOPIC: &str = "orders";

/// One coordinator partition in virtual time.
pub(super) struct World {
    pub(super) runtime: Runtime<GroupDecider>,
    pub(super) log: MemoryLog,
    pub(super) now_ms: i64,
    pub(super) config: Rc<GroupConfig>,
    /// Whether failures are expected: they count as codes.
    pub(super) is_refusing: bool,
    next_waiter: u64,
    answers: BTreeMap<WaiterId, Answer<GroupDecider>>,
}

impl World {
    pub(super) fn new() -> Self {
        Self::with(GroupConfig { initial_rebalance_delay_ms: 0, ..GroupConfig::default() })
    }

    pub(super) fn with(config: GroupConfig) -> Self {
        Self::over(MemoryLog::default(), config, 1_000_000)
    }

    /// Loads the log.
    pub(super) fn over(log: MemoryLog, config: GroupConfig, now_ms: i64) -> Self {
        let config = Rc::new(config);
        let decider = loaded(&log, &config);
        let runtime = Runtime::new(decider, log.end_offset(), at(now_ms));
        Self { runtime, log, now_ms, config, is_refusing: false, next_waiter: 0, answers: BTreeMap::new() }
    }

    /// A kill and a restart: what isn't in the log is gone.
    pub(super) fn restarted(self) -> Self {
        let mut next = Self::over(self.log.next_leadership(), GroupConfig::clone(&self.config), self.now_ms);
        // Ids stay unique, as random ones are.
        next.next_waiter = self.next_waiter;
        next
    }

    pub(super) fn ask(&mut self, request: GroupRequest) -> WaiterId {
        let waiter = WaiterId(self.next_waiter);
        self.next_waiter += 1;
        let asked = self.runtime.request(at(self.now_ms), &request, waiter, &self.log, None).unwrap();
        assert_eq!(asked, Asked::Decided);
        self.collect();
        waiter
    }

    pub(super) fn collect(&mut self) {
        while let Some((waiter, answer)) = self.runtime.pop_answer(self.log.committed_offset()) {
            assert!(self.answers.insert(waiter, answer).is_none(), "answered twice");
        }
    }

    /// Lets time pass, firing each timer at its time.
    pub(super) fn pass(&mut self, ms: i64) {
        let until_ms = self.now_ms + ms;
        let mut turns_at_once = 0;
        while let Some(next_ms) = self.runtime.next_deadline_ms().filter(|next_ms| *next_ms <= until_ms) {
            turns_at_once = if next_ms > self.now_ms { 0 } else { turns_at_once + 1 };
            assert!(turns_at_once < 100, "timers that are due at once, for ever");
            self.now_ms = self.now_ms.max(next_ms);
            self.runtime.run_due(at(self.now_ms), &self.log).unwrap();
            self.collect();
        }
        self.now_ms = until_ms;
    }

    pub(super) fn answer(&mut self, waiter: WaiterId) -> Option<GroupReply> {
        match self.answers.remove(&waiter)? {
            Ok(reply) => Some(reply),
            Err(code) if self.is_refusing => Some(GroupReply::Code(code)),
            Err(code) => panic!("{code}"),
        }
    }

    pub(super) fn failure(&mut self, waiter: WaiterId) -> Option<ErrorCode> {
        self.answers.remove(&waiter).map(|answer| answer.unwrap_err())
    }

    pub(super) fn group(&self) -> Option<&ClassicGroup> {
        self.runtime.decider().group(GROUP).map(|group| &group.classic)
    }

    pub(super) fn state(&self) -> GroupState {
        self.group().map_or(GroupState::Empty, |group| group.state)
    }

    pub(super) fn join(&mut self, join: TestJoin) -> WaiterId {
        let context = context(join.version);
        let uuid = Uuid(u128::from(self.next_waiter).to_be_bytes());
        self.ask(GroupRequest::Join(Box::new(join.request), context, uuid))
    }

    pub(super) fn joined(&mut self, waiter: WaiterId) -> JoinGroupResponse {
        self.maybe_joined(waiter).expect("no answer to the join")
    }

    pub(super) fn maybe_joined(&mut self, waiter: WaiterId) -> Option<JoinGroupResponse> {
        self.answer(waiter).map(|reply| match reply {
            GroupReply::Join(response) => response,
            GroupReply::Code(code) => JoinGroupResponse { error_code: code.code(), ..Default::default() },
            other => panic!("{other:?}"),
        })
    }

    pub(super) fn sync(&mut self, member: &Str, generation: i32, assignments: &[(&Str, &str)]) -> WaiterId {
        self.ask(GroupRequest::Sync(Box::new(sync_request(member, generation, assignments)), 5))
    }

    pub(super) fn synced(&mut self, waiter: WaiterId) -> SyncGroupResponse {
        match self.answer(waiter) {
            Some(GroupReply::Sync(response)) => response,
            other => panic!("{other:?}"),
        }
    }

    pub(super) fn heartbeat(&mut self, member: &Str, generation: i32) -> ErrorCode {
        let request = HeartbeatRequest {
            group_id: GROUP.into(),
            generation_id: generation,
            member_id: member.clone(),
            ..Default::default()
        };
        let waiter = self.ask(GroupRequest::Heartbeat(request));
        self.code(waiter)
    }

    pub(super) fn code(&mut self, waiter: WaiterId) -> ErrorCode {
        match self.answer(waiter) {
            Some(GroupReply::Code(code)) => code,
            other => panic!("{other:?}"),
        }
    }

    pub(super) fn leave(&mut self, members: &[(&str, Option<&str>)]) -> Vec<i16> {
        let members = members.iter().map(|(id, instance)| leave_group_request::MemberIdentity {
            member_id: (*id).into(),
            group_instance_id: instance.map(Str::from),
            ..Default::default()
        });
        let request =
            LeaveGroupRequest { group_id: GROUP.into(), members: members.collect(), ..Default::default() };
        let waiter = self.ask(GroupRequest::Leave(request, 5));
        match self.answer(waiter) {
            Some(GroupReply::Leave(response)) => {
                assert_eq!(response.error_code, 0);
                response.members.iter().map(|member| member.error_code).collect()
            }
            other => panic!("{other:?}"),
        }
    }

    pub(super) fn commit(&mut self, member: &str, generation: i32, offset: i64) -> i16 {
        self.commit_request(commit_request(member, generation, offset), 9)
    }

    pub(super) fn commit_request(&mut self, request: OffsetCommitRequest, version: i16) -> i16 {
        let waiter = self.ask(GroupRequest::Commit(Box::new(request), Vec::new(), version));
        match self.answer(waiter) {
            Some(GroupReply::Commit(response)) => response.topics[0].partitions[0].error_code,
            Some(GroupReply::Code(code)) => code.code(),
            other => panic!("{other:?}"),
        }
    }

    /// The committed offset of partition 0, as a client sees it.
    pub(super) fn committed(&mut self) -> i64 {
        let request = OffsetFetchRequestGroup { group_id: GROUP.into(), topics: None, ..Default::default() };
        let waiter = self.ask(GroupRequest::Fetch(request, 9));
        match self.answer(waiter) {
            Some(GroupReply::Fetch(response)) => {
                assert_eq!(response.error_code, 0);
                response.topics.first().map_or(-1, |topic| topic.partitions[0].committed_offset)
            }
            other => panic!("{other:?}"),
        }
    }

    /// A stable group of `count` dynamic members; gives their ids, the leader first, and the generation.
    pub(super) fn stable(&mut self, count: usize) -> (Vec<Str>, i32) {
        let mut ids = Vec::new();
        for _ in 0..count {
            let waiter = self.join(TestJoin::new(""));
            let response = self.joined(waiter);
            assert_eq!(response.error_code, ErrorCode::MEMBER_ID_REQUIRED.code());
            ids.push(response.member_id);
        }
        let mut waiters: Vec<_> = ids.iter().map(|id| self.join(TestJoin::new(id))).collect();
        self.pass(i64::from(self.config.initial_rebalance_delay_ms) * 2);
        // Without an initial delay the first one was through before the others came.
        if count > 1 && self.maybe_joined(waiters[0]).is_some() {
            waiters[0] = self.join(TestJoin::new(&ids[0]));
        }
        let responses: Vec<_> = waiters.into_iter().map(|waiter| self.joined(waiter)).collect();
        let (leader, generation) = (responses[0].leader.clone(), responses[0].generation_id);
        ids.sort_by_key(|id| *id != leader);
        self.sync_all(&ids, generation);
        (ids, generation)
    }

    /// Followers first, then the leader with an assignment for each.
    pub(super) fn sync_all(&mut self, ids: &[Str], generation: i32) {
        let mut waiters: Vec<_> = ids[1..].iter().map(|id| self.sync(id, generation, &[])).collect();
        let assignments: Vec<(&Str, &str)> = ids.iter().map(|id| (id, id.as_str())).collect();
        waiters.insert(0, self.sync(&ids[0], generation, &assignments));
        for (id, waiter) in ids.iter().zip(waiters) {
            let response = self.synced(waiter);
            assert_eq!((response.error_code, &response.assignment[..]), (0, id.as_bytes()));
        }
        assert_eq!(self.state(), GroupState::Stable);
    }
}

/// A join to be adapted.
pub(super) struct TestJoin {
    pub(super) request: JoinGroupRequest,
    pub(super) version: i16,
}

impl TestJoin {
    pub(super) fn new(member: &str) -> Self {
        let request = JoinGroupRequest {
            group_id: GROUP.into(),
            session_timeout_ms: SESSION_MS,
            rebalance_timeout_ms: REBALANCE_MS,
            member_id: member.into(),
            protocol_type: "consumer".into(),
            protocols: vec![protocol("range", 1)],
            ..Default::default()
        };
        Self { request, version: 9 }
    }

    pub(super) fn instance(mut self, instance: &str) -> Self {
        self.request.group_instance_id = Some(instance.into());
        self
    }

    pub(super) fn protocols(mut self, names: &[&str]) -> Self {
        self.request.protocols = names.iter().map(|name| protocol(name, 1)).collect();
        self
    }

    pub(super) fn metadata(mut self, version: i16) -> Self {
        self.request.protocols = vec![protocol("range", version)];
        self
    }

    pub(super) fn version(mut self, version: i16) -> Self {
        self.version = version;
        self
    }
}

/// A subscription to [`TOPIC`]; its version makes it different.
fn protocol(name: &str, version: i16) -> JoinGroupRequestProtocol {
    let subscription = ConsumerProtocolSubscription { topics: vec![TOPIC.into()], ..Default::default() };
    let metadata = encode_versioned(&subscription, version).unwrap();
    JoinGroupRequestProtocol { name: name.into(), metadata, ..Default::default() }
}

pub(super) fn sync_request(member: &Str, generation: i32, assignments: &[(&Str, &str)]) -> SyncGroupRequest {
    let assignments = assignments.iter().map(|(id, assignment)| SyncGroupRequestAssignment {
        member_id: (*id).clone(),
        assignment: Bytes::copy_from_slice(assignment.as_bytes()),
        ..Default::default()
    });
    SyncGroupRequest {
        group_id: GROUP.into(),
        generation_id: generation,
        member_id: member.clone(),
        assignments: assignments.collect(),
        ..Default::default()
    }
}

pub(super) fn commit_request(member: &str, generation: i32, offset: i64) -> OffsetCommitRequest {
    let partition = OffsetCommitRequestPartition {
        partition_index: 0,
        committed_offset: offset,
        committed_metadata: Some("m".into()),
        ..Default::default()
    };
    let topic = OffsetCommitRequestTopic {
        name: TOPIC.into(),
        topic_id: Uuid([7; 16]),
        partitions: vec![partition],
        ..Default::default()
    };
    OffsetCommitRequest {
        group_id: GROUP.into(),
        generation_id_or_member_epoch: generation,
        member_id: member.into(),
        topics: vec![topic],
        ..Default::default()
    }
}

pub(super) fn context(api_version: i16) -> Joiner {
    Joiner { client_id: "client".into(), client_host: "/127.0.0.1".into(), api_version }
}

pub(super) fn at(now_ms: i64) -> Now {
    Now { mono_ms: now_ms, unix_ms: 1_700_000_000_000 + now_ms }
}

/// What a fresh decider makes of a log.
pub(super) fn loaded(log: &MemoryLog, config: &Rc<GroupConfig>) -> GroupDecider {
    let mut decider = GroupDecider::new(Rc::clone(config));
    for (offset, (key, value)) in (0..).zip(log.records()) {
        let content = EntryContent::Record { key, value };
        decider
            .replay(&Entry { offset, timestamp_ms: 0, producer_id: -1, producer_epoch: -1, content })
            .unwrap();
    }
    decider
}
