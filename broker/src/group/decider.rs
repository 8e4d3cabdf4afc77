//! The groups of one partition of `__consumer_offsets`, as a decider.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use protocol::error::ErrorCode;
use protocol::internal::{
    CoordinatorKey, GroupMetadataValue, OffsetCommitKey, OffsetCommitValue, decode_versioned,
};
use protocol::messages::{JoinGroupRequest, OffsetCommitRequest};
use protocol::types::{Str, Uuid};

use super::classic::{
    Applying, ClassicChange, ClassicGroup, GroupState, Join, decide_heartbeat, decide_join_over,
    decide_leave, decide_session_over, decide_sync, decide_sync_over, describe, join_refusal, list,
};
use super::config::GroupConfig;
use super::coordinator::{Decider, Decision, Entry, EntryContent, Now, Outbox, ReplayError, WaiterId};
use super::offsets::{
    DeletedTopics, GroupOffsets, OffsetPlace, commit_refusal, decide_commit, decide_delete,
    decide_offset_delete, expired_records, fetch, topics_with_offsets,
};
use super::request::{CommitTopic, GroupReply, GroupRequest, Joiner};

/// Pause between the steps of a long clean-up, so that requests get their turn, ms.
const CLEANUP_PAUSE_MS: i32 = 10;

/// A group: its members and its offsets.
#[derive(Debug, Clone)]
pub struct Group {
    /// Members.
    pub classic: ClassicGroup,
    /// Offsets.
    pub offsets: GroupOffsets,
}

/// A change of the volatile part.
#[derive(Debug, Clone, PartialEq)]
pub enum GroupChange {
    /// Of one group.
    Classic {
        /// The group id.
        group: Str,
        /// What changes.
        change: ClassicChange,
    },
    /// Offsets were looked through for expired ones.
    RetentionChecked {
        /// The group with which the next step goes on; none once all were looked at.
        next: Option<Str>,
    },
    /// Topics are gone: their offsets are to go.
    TopicsDeleted(Vec<(Str, Uuid)>),
    /// Some offsets were looked at for those of deleted topics.
    DeletedTopicsStepped {
        /// Where the next step goes on; none once all were looked at.
        next: Option<OffsetPlace>,
    },
}

/// The timers of groups.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum GroupTimer {
    /// The join phase of a group is over.
    Join(Str),
    /// The members of a group had their time to sync.
    Sync(Str),
    /// A member of a group, or an id given out, has fallen silent.
    Session(Str, Str),
    /// Offsets are looked through for expired ones.
    Retention,
    /// Groups are looked through for offsets of deleted topics.
    DeletedTopics,
}

/// The groups of one partition of `__consumer_offsets`.
#[derive(Debug)]
pub struct GroupDecider {
    config: Rc<GroupConfig>,
    groups: BTreeMap<Str, Group>,
    /// Where the retention check goes on.
    retention_next: Option<Str>,
    /// Topics whose offsets are still to go.
    deleted_topics: DeletedTopics,
}

impl GroupDecider {
    /// No groups yet.
    pub fn new(config: Rc<GroupConfig>) -> Self {
        let (groups, deleted_topics) = (BTreeMap::new(), DeletedTopics::default());
        Self { config, groups, retention_next: None, deleted_topics }
    }

    /// A group.
    pub fn group(&self, id: &str) -> Option<&Group> {
        self.groups.get(id)
    }

    /// All groups, by id.
    pub fn groups(&self) -> impl Iterator<Item = &Group> {
        self.groups.values()
    }

    /// See [`topics_with_offsets`].
    pub fn topics_with_offsets(&self, from: OffsetPlace) -> (BTreeSet<(Str, Uuid)>, Option<OffsetPlace>) {
        topics_with_offsets(&self.groups, from)
    }

    fn classic(&self, id: &str) -> Option<&ClassicGroup> {
        self.groups.get(id).map(|group| &group.classic)
    }

    fn decide_join(
        &self,
        request: &JoinGroupRequest,
        joiner: &Joiner,
        uuid: Uuid,
        waiter: WaiterId,
    ) -> Decision<Self> {
        let decide =
            |group: &ClassicGroup| Join::new(group, &self.config, request, joiner, uuid, waiter).decide();
        if let Some(group) = self.classic(&request.group_id) {
            return decide(group);
        }
        let code = if !request.member_id.is_empty() {
            ErrorCode::UNKNOWN_MEMBER_ID
        } else if self.groups.len() >= self.config.groups_max {
            ErrorCode::COORDINATOR_NOT_AVAILABLE
        } else {
            return decide(&ClassicGroup::new(request.group_id.detached()));
        };
        Decision::reply(join_refusal(request.member_id.clone(), code))
    }

    fn decide_commit(
        &self,
        now: Now,
        request: &OffsetCommitRequest,
        known: &[CommitTopic],
        api_version: i16,
    ) -> Decision<Self> {
        let group = self.classic(&request.group_id);
        if group.is_none() && self.groups.len() >= self.config.groups_max {
            let refusal = commit_refusal(request, known, ErrorCode::COORDINATOR_NOT_AVAILABLE);
            return Decision::reply(GroupReply::Commit(refusal));
        }
        decide_commit(now, &self.config, group, request, known, api_version)
    }

    fn decide_deleted_topics(&self) -> Decision<Self> {
        let (records, next) = self.deleted_topics.step(&self.groups);
        let stepped = GroupChange::DeletedTopicsStepped { next };
        Decision { changes: vec![stepped], ..Decision::records(records) }
    }

    fn decide_retention(&self, now: Now) -> Decision<Self> {
        let from = self.retention_next.clone().unwrap_or_default();
        let groups = self.groups.range(from..).map(|(_, group)| group);
        let (records, next) = expired_records(groups, &self.config, now);
        let checked = GroupChange::RetentionChecked { next };
        Decision { changes: vec![checked], ..Decision::records(records) }
    }

    fn replay_offset(&mut self, entry: &Entry, key: &OffsetCommitKey, value: Option<&OffsetCommitValue>) {
        if entry.producer_id >= 0 {
            // Offsets of a transaction are pending until its marker; transactions come with their own coordinator.
            tracing::warn!(offset = entry.offset, "transactional offset commit skipped");
            return;
        }
        if value.is_none() && !self.groups.contains_key(&key.group) {
            return;
        }
        self.group_mut(&key.group).offsets.replay(&key.topic, key.partition, value);
        self.forget_if_unused(&key.group);
    }

    fn replay_group(&mut self, id: &Str, value: Option<&GroupMetadataValue>) {
        match value {
            Some(value) => self.group_mut(id).classic.replay(value),
            None => {
                if let Some(group) = self.groups.get_mut(id) {
                    let pending = std::mem::take(&mut group.classic.pending);
                    group.classic = ClassicGroup { pending, ..ClassicGroup::new(id.detached()) };
                    self.forget_if_unused(id);
                }
            }
        }
    }

    fn group_mut(&mut self, id: &Str) -> &mut Group {
        // A new group's id must not keep the request alive that it came with.
        let id = if self.groups.contains_key(id) { id.clone() } else { id.detached() };
        let group = |id| Group { classic: ClassicGroup::new(id), offsets: GroupOffsets::default() };
        self.groups.entry(id.clone()).or_insert_with(|| group(id))
    }

    /// A group that the log doesn't know, and that nobody is about to join, is forgotten: else names alone would fill the memory.
    fn forget_if_unused(&mut self, id: &Str) {
        let is_unused = |group: &Group| {
            group.classic.state == GroupState::Empty
                && !group.classic.logged
                && group.classic.pending.is_empty()
                && group.offsets.is_empty()
        };
        if self.groups.get(id).is_some_and(is_unused) {
            self.groups.remove(id);
        }
    }
}

impl Decider for GroupDecider {
    type Request = GroupRequest;
    type Reply = GroupReply;
    type Change = GroupChange;
    type Timer = GroupTimer;

    fn decide(&self, now: Now, request: &GroupRequest, waiter: WaiterId) -> Decision<Self> {
        match request {
            GroupRequest::Join(request, joiner, uuid) => self.decide_join(request, joiner, *uuid, waiter),
            GroupRequest::Sync(request, _) => decide_sync(self.classic(&request.group_id), request, waiter),
            GroupRequest::Heartbeat(request) => decide_heartbeat(self.classic(&request.group_id), request),
            GroupRequest::Leave(request, _) => decide_leave(self.classic(&request.group_id), request),
            GroupRequest::Commit(request, known, version) => {
                self.decide_commit(now, request, known, *version)
            }
            GroupRequest::Fetch(request, _) => {
                let offsets = self.groups.get(&request.group_id).map(|group| &group.offsets);
                Decision::reply(GroupReply::Fetch(fetch(offsets, request)))
            }
            GroupRequest::List { states, types } => {
                let groups = self.groups.values().filter_map(|group| list(&group.classic, states, types));
                Decision::reply(GroupReply::List(groups.collect()))
            }
            GroupRequest::Describe(id, version) => {
                Decision::reply(GroupReply::Describe(describe(self.classic(id), id, *version)))
            }
            GroupRequest::Delete(id) => decide_delete(self.groups.get(id)),
            GroupRequest::OffsetDelete(request) => {
                decide_offset_delete(self.groups.get(&request.group_id), request)
            }
            GroupRequest::TopicsDeleted(topics) => Decision {
                changes: vec![GroupChange::TopicsDeleted(topics.clone())],
                ..Decision::reply(GroupReply::Code(ErrorCode::NONE))
            },
        }
    }

    fn expire(&self, now: Now, timer: &GroupTimer) -> Decision<Self> {
        let with = |id: &Str, decide: &dyn Fn(&ClassicGroup) -> Decision<Self>| {
            self.classic(id).map_or_else(Decision::nothing, decide)
        };
        match timer {
            GroupTimer::Join(id) => with(id, &|group| decide_join_over(now, group)),
            GroupTimer::Sync(id) => with(id, &decide_sync_over),
            GroupTimer::Session(id, member_id) => with(id, &|group| decide_session_over(group, member_id)),
            GroupTimer::Retention => self.decide_retention(now),
            GroupTimer::DeletedTopics => self.decide_deleted_topics(),
        }
    }

    fn replay(&mut self, entry: &Entry) -> Result<(), ReplayError> {
        let EntryContent::Record { key, value } = &entry.content else { return Ok(()) };
        let damaged = |source| ReplayError::Damaged { offset: entry.offset, source };
        match CoordinatorKey::decode(key).map_err(damaged)? {
            CoordinatorKey::OffsetCommit(key) => {
                let value = value.as_ref().map(decode_versioned::<OffsetCommitValue>).transpose();
                let value = value.map_err(damaged)?.map(|(_, value)| value);
                self.replay_offset(entry, &key, value.as_ref());
            }
            CoordinatorKey::GroupMetadata(key) => {
                let value = value.as_ref().map(decode_versioned::<GroupMetadataValue>).transpose();
                let value = value.map_err(damaged)?.map(|(_, value)| value);
                self.replay_group(&key.group, value.as_ref());
            }
            // Of another version of Kafka or Ringlog, whose groups aren't served here.
            CoordinatorKey::Unknown { .. } => {}
        }
        Ok(())
    }

    fn apply(&mut self, now: Now, change: GroupChange, out: &mut Outbox<Self>) {
        match change {
            GroupChange::Classic { group: id, change } => {
                let config = Rc::clone(&self.config);
                let group = &mut self.group_mut(&id).classic;
                Applying { group, config: &config, now, out }.apply(change);
                self.forget_if_unused(&id);
            }
            GroupChange::RetentionChecked { next } => {
                let interval_ms = self.config.offsets_retention_check_interval_ms;
                let delay_ms = if next.is_some() { CLEANUP_PAUSE_MS } else { interval_ms };
                self.retention_next = next;
                out.arm(GroupTimer::Retention, now.after(delay_ms));
            }
            GroupChange::TopicsDeleted(topics) => {
                self.deleted_topics.add(topics);
                out.arm(GroupTimer::DeletedTopics, now.after(0));
            }
            GroupChange::DeletedTopicsStepped { next } => {
                if self.deleted_topics.stepped(next) {
                    out.arm(GroupTimer::DeletedTopics, now.after(CLEANUP_PAUSE_MS));
                }
            }
        }
    }

    fn loaded(&mut self, now: Now, out: &mut Outbox<Self>) {
        let config = Rc::clone(&self.config);
        for group in self.groups.values_mut() {
            Applying { group: &mut group.classic, config: &config, now, out }.loaded();
        }
        out.arm(GroupTimer::Retention, now.after(config.offsets_retention_check_interval_ms));
    }
}
