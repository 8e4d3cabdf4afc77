//! The state of a classic group.

use std::collections::{BTreeMap, BTreeSet};

use protocol::error::ErrorCode;
use protocol::internal::GroupMetadataValue;
use protocol::internal::group_metadata_value::MemberMetadata;
use protocol::types::Str;

use super::member::Member;
use super::subscription::subscribed_topics;

/// Protocol type of Kafka's consumers; only then are subscriptions understood.
pub const CONSUMER_PROTOCOL_TYPE: &str = "consumer";

/// States of a classic group. *Dead* is the absence of the group.
///
/// ```text
/// Empty ──join──> PreparingRebalance ──all joined, or time is up──> CompletingRebalance ──leader's sync──> Stable
///   ^                │ no member left   ^         ^                        │                                  │
///   └────────────────┘                  │         └──────── join, leave ───┘                                  │
///                                       └──────────────────── join, leave, expiry ────────────────────────────┘
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum GroupState {
    /// No members; offsets may remain.
    #[default]
    Empty,
    /// Members are joining.
    PreparingRebalance,
    /// The leader is computing the assignment.
    CompletingRebalance,
    /// Everyone has an assignment.
    Stable,
}

impl GroupState {
    /// All of them, in order.
    pub const ALL: [GroupState; 4] =
        [Self::Empty, Self::PreparingRebalance, Self::CompletingRebalance, Self::Stable];

    /// The state's name in ListGroups and DescribeGroups.
    pub fn name(self) -> &'static str {
        match self {
            Self::Empty => "Empty",
            Self::PreparingRebalance => "PreparingRebalance",
            Self::CompletingRebalance => "CompletingRebalance",
            Self::Stable => "Stable",
        }
    }
}

/// The first rebalance of an empty group: it is held open for latecomers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InitialDelay {
    /// The delay that runs, ms.
    pub delay_ms: i32,
    /// How much it may still be extended, ms.
    pub remaining_ms: i32,
    /// Whether someone came during it.
    pub joined_since: bool,
}

/// A classic group. Logged: protocol, generation, leader, and members with assignments, as of the last GroupMetadata record; the rest is volatile.
///
/// Invariants, which the property test checks: `awaiting_join` counts the members with a join waiter; `supported` counts the members' protocols;
/// `statics` maps exactly the members with an instance id; the leader is a member.
#[derive(Debug, Clone, Default)]
pub struct ClassicGroup {
    /// The group id.
    pub id: Str,
    /// Where it is.
    pub state: GroupState,
    /// Set while the first rebalance is held open.
    pub initial: Option<InitialDelay>,
    /// Protocol type of the members; none for a group that only ever had offsets.
    pub protocol_type: Option<Str>,
    /// The chosen protocol; none without members.
    pub protocol_name: Option<Str>,
    /// Counts the joins completed.
    pub generation: i32,
    /// The member that assigns.
    pub leader: Option<Str>,
    /// Since when it is in this state, ms since 1970; as of the last record after a load.
    pub state_since_ms: Option<i64>,
    /// By member id.
    pub members: BTreeMap<Str, Member>,
    /// Instance id to member id.
    pub statics: BTreeMap<Str, Str>,
    /// Ids given out (KIP-394) that haven't joined yet.
    pub pending: BTreeSet<Str>,
    /// Members of this generation that haven't asked for their assignment yet.
    pub pending_sync: BTreeSet<Str>,
    /// How many members offer a protocol.
    pub supported: BTreeMap<Str, usize>,
    /// How many members wait in the join phase.
    pub awaiting_join: usize,
    /// Topics the members subscribe to; none if that can't be known.
    pub subscribed: Option<BTreeSet<Str>>,
    /// Whether the log holds a GroupMetadata record of it.
    pub logged: bool,
}

impl ClassicGroup {
    /// An empty group.
    pub fn new(id: Str) -> Self {
        Self { id, ..Self::default() }
    }

    /// Whether `member_id` leads.
    pub fn is_leader(&self, member_id: &str) -> bool {
        self.leader.as_deref() == Some(member_id)
    }

    /// Whether the join phase has nobody left to wait for.
    pub fn all_joined(&self) -> bool {
        self.members.len() == self.awaiting_join && self.pending.is_empty()
    }

    /// The longest rebalance timeout of the members, ms; O(members), once a rebalance.
    pub fn rebalance_timeout_ms(&self) -> i32 {
        self.members.values().map(|member| member.rebalance_timeout_ms).max().unwrap_or(0)
    }

    /// Whether members speak the consumer protocol.
    pub fn is_consumer(&self) -> bool {
        self.protocol_type.as_deref() == Some(CONSUMER_PROTOCOL_TYPE)
    }

    /// Whether a live member reads `topic`, as far as is known.
    pub fn is_subscribed(&self, topic: &str) -> bool {
        self.subscribed.as_ref().map_or_else(|| self.is_consumer(), |topics| topics.contains(topic))
    }

    /// Whether the group knows this member, and no newer one holds its instance id.
    ///
    /// # Errors
    /// UNKNOWN_MEMBER_ID, FENCED_INSTANCE_ID.
    pub fn check_member(&self, member_id: &str, instance_id: Option<&str>) -> Result<(), ErrorCode> {
        if let Some(instance_id) = instance_id {
            match self.statics.get(instance_id) {
                None => return Err(ErrorCode::UNKNOWN_MEMBER_ID),
                Some(holder) if holder != member_id => return Err(ErrorCode::FENCED_INSTANCE_ID),
                Some(_) => {}
            }
        }
        if self.members.contains_key(member_id) { Ok(()) } else { Err(ErrorCode::UNKNOWN_MEMBER_ID) }
    }

    /// Puts a member in; the first one decides the protocol type and leads.
    pub fn insert(&mut self, id: Str, member: Member, protocol_type: &Str) {
        if self.members.is_empty() {
            self.protocol_type = Some(protocol_type.clone());
        }
        if self.leader.is_none() {
            self.leader = Some(id.clone());
        }
        self.pending.remove(&id);
        if let Some(instance_id) = &member.instance_id {
            self.statics.insert(instance_id.clone(), id.clone());
        }
        self.count(&member, true);
        self.members.insert(id, member);
    }

    /// Takes a member out, joined or pending; a leader is succeeded by any other.
    pub fn remove(&mut self, id: &str) -> Option<Member> {
        self.pending.remove(id);
        self.pending_sync.remove(id);
        let member = self.members.remove(id)?;
        self.count(&member, false);
        if let Some(instance_id) = &member.instance_id {
            self.statics.remove(instance_id);
        }
        if self.is_leader(id) {
            self.leader = self.members.keys().next().cloned();
        }
        Some(member)
    }

    /// Keeps `supported` and `awaiting_join` in step with a member put in or taken out.
    pub fn count(&mut self, member: &Member, put_in: bool) {
        for (name, _) in &member.protocols {
            let count = self.supported.entry(name.clone()).or_default();
            *count = if put_in { *count + 1 } else { count.saturating_sub(1) };
            if *count == 0 {
                self.supported.remove(name);
            }
        }
        if member.join.is_some() {
            self.awaiting_join =
                if put_in { self.awaiting_join + 1 } else { self.awaiting_join.saturating_sub(1) };
        }
    }

    /// Folds a GroupMetadata record in. Members that stay keep what is volatile about them.
    pub fn replay(&mut self, value: &GroupMetadataValue) {
        self.logged = true;
        self.initial = None;
        self.protocol_type = (!value.protocol_type.is_empty()).then(|| value.protocol_type.detached());
        self.protocol_name = value.protocol.as_ref().map(Str::detached);
        self.generation = value.generation;
        self.leader = value.leader.as_ref().map(Str::detached);
        self.state_since_ms = (value.current_state_timestamp >= 0).then_some(value.current_state_timestamp);
        let mut before = std::mem::take(&mut self.members);
        self.statics.clear();
        self.supported.clear();
        self.awaiting_join = 0;
        for logged in &value.members {
            let id = logged.member_id.detached();
            let kept = before.remove(&id);
            let member = replayed_member(logged, kept, self.protocol_name.as_ref());
            if let Some(instance_id) = &member.instance_id {
                self.statics.insert(instance_id.clone(), id.clone());
            }
            self.count(&member, true);
            self.members.insert(id, member);
        }
        self.pending_sync.retain(|id| self.members.contains_key(id));
        self.state = if self.members.is_empty() { GroupState::Empty } else { GroupState::Stable };
        self.subscribed = subscribed_topics(self);
    }
}

fn replayed_member(logged: &MemberMetadata, kept: Option<Member>, protocol: Option<&Str>) -> Member {
    let offered = || {
        let metadata = bytes::Bytes::copy_from_slice(&logged.subscription);
        protocol.map(|name| (name.clone(), metadata)).into_iter().collect()
    };
    // On a live leader the record says what the member said; while loading, an older record may have said otherwise.
    let says = |kept: &Member| protocol.is_none_or(|name| kept.metadata(name) == logged.subscription);
    let (protocols, join, sync, is_new) = match kept {
        Some(kept) if says(&kept) => (kept.protocols, kept.join, kept.sync, kept.is_new),
        Some(kept) => (offered(), kept.join, kept.sync, kept.is_new),
        None => (offered(), None, None, false),
    };
    // Before version 1 there was no rebalance timeout: the session's served.
    let rebalance_timeout_ms =
        if logged.rebalance_timeout < 0 { logged.session_timeout } else { logged.rebalance_timeout };
    Member {
        instance_id: logged.group_instance_id.as_ref().map(Str::detached),
        client_id: logged.client_id.detached(),
        client_host: logged.client_host.detached(),
        rebalance_timeout_ms,
        session_timeout_ms: logged.session_timeout,
        protocols,
        assignment: bytes::Bytes::copy_from_slice(&logged.assignment),
        join,
        sync,
        is_new,
    }
}
