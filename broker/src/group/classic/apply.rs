//! Applying changes: what members wait for, and which timers run.
//!
//! A rebalance never hangs: while the group is in PreparingRebalance its join timer is armed, while members haven't synced its sync timer is,
//! and every member has a session timer unless it waits for us.

use bytes::Bytes;
use protocol::error::ErrorCode;
use protocol::types::Str;

use super::change::{ClassicChange, MemberUpdate};
use super::group::{ClassicGroup, GroupState, InitialDelay};
use super::join::{joined, refusal};
use super::member::Member;
use super::subscription::subscribed_topics;
use super::sync::{sync_refusal, synced};
use crate::group::config::GroupConfig;
use crate::group::coordinator::{Now, Outbox, WaiterId};
use crate::group::decider::{GroupDecider, GroupTimer};
use crate::group::limits::REJOIN_WAIT_MS_MIN;
use crate::group::request::GroupReply;

/// A group with what its changes need.
pub(crate) struct Applying<'a> {
    /// The group that changes.
    pub group: &'a mut ClassicGroup,
    /// Settings.
    pub config: &'a GroupConfig,
    /// The time of the step.
    pub now: Now,
    /// What is set off.
    pub out: &'a mut Outbox<GroupDecider>,
}

impl Applying<'_> {
    /// Applies one change.
    pub(crate) fn apply(&mut self, change: ClassicChange) {
        match change {
            ClassicChange::AddPending { member_id, session_timeout_ms } => {
                self.arm_session(&member_id, session_timeout_ms);
                self.group.pending.insert(member_id);
            }
            ClassicChange::Add { member_id, member, protocol_type } => {
                self.add(member_id, *member, &protocol_type);
            }
            ClassicChange::Update { member_id, update, waiter } => {
                self.update(&member_id, *update, waiter);
                self.advance();
            }
            ClassicChange::ReplaceStatic { old_id, new_id, update, waiter } => {
                self.replace_static(&old_id, new_id, *update, waiter);
            }
            ClassicChange::Heard { member_id } => self.rearm_session(&member_id),
            ClassicChange::Remove { member_ids, by_leave } => self.remove(&member_ids, by_leave),
            ClassicChange::Refuse { member_id } => self.refuse(&member_id),
            ClassicChange::Rebalance => self.advance(),
            ClassicChange::ExtendInitialDelay => self.extend_initial_delay(),
            ClassicChange::CompleteJoin => self.complete_join(),
            ClassicChange::AwaitRejoin => self.await_rejoin(),
            ClassicChange::BecameEmpty => self.stop_phase_timers(),
            ClassicChange::AwaitSync { member_id, waiter } => self.await_sync(&member_id, waiter),
            ClassicChange::SyncSeen { member_id } => self.sync_seen(&member_id),
            ClassicChange::Synced => self.answer_syncs(),
            ClassicChange::DropUnsynced => self.drop_unsynced(),
        }
    }

    /// After a load: sessions run anew, and a group above a lowered limit gets a rebalance.
    pub(crate) fn loaded(&mut self) {
        let ids: Vec<Str> = self.group.members.keys().cloned().collect();
        for id in &ids {
            self.rearm_session(id);
        }
        if ids.len() > self.config.max_size {
            self.prepare_rebalance();
        }
    }

    fn add(&mut self, member_id: Str, member: Member, protocol_type: &Str) {
        if let Some(initial) = self.group.initial.as_mut() {
            initial.joined_since = true;
        }
        self.group.insert(member_id.clone(), member, protocol_type);
        self.arm_session(&member_id, self.config.new_member_join_timeout_ms);
        self.advance();
    }

    /// A member rejoins: an older request of it that still waits is told to come again, for only one can be answered later.
    fn update(&mut self, member_id: &Str, update: MemberUpdate, waiter: WaiterId) {
        let Some((id, mut member)) = self.group.members.remove_entry(member_id) else { return };
        self.group.count(&member, false);
        if let Some(older) = member.join.replace(waiter) {
            self.out.reply(older, refusal(id.clone(), ErrorCode::REBALANCE_IN_PROGRESS));
        }
        update.put_into(&mut member);
        self.group.count(&member, true);
        self.group.members.insert(id, member);
    }

    fn replace_static(&mut self, old_id: &Str, new_id: Str, update: MemberUpdate, waiter: Option<WaiterId>) {
        self.out.stop(GroupTimer::Session(self.group.id.clone(), old_id.clone()));
        let leads = self.group.is_leader(old_id) || self.group.is_leader(&new_id);
        // In a stable group the record has done the replacement already.
        let replaced = self.group.remove(old_id).or_else(|| self.group.remove(&new_id).map(unwaited));
        let Some(mut member) = replaced else { return };
        if let Some(fenced) = member.join.take() {
            self.out.reply(fenced, refusal(old_id.clone(), ErrorCode::FENCED_INSTANCE_ID));
        }
        if let Some(fenced) = member.sync.take() {
            self.out.reply(fenced, sync_refusal(ErrorCode::FENCED_INSTANCE_ID));
        }
        update.put_into(&mut member);
        member.join = waiter;
        member.is_new = false;
        let protocol_type = self.group.protocol_type.clone().unwrap_or_default();
        self.group.insert(new_id.clone(), member, &protocol_type);
        if leads {
            self.group.leader = Some(new_id.clone());
        }
        self.rearm_session(&new_id);
    }

    fn remove(&mut self, member_ids: &[Str], by_leave: bool) {
        let mut was_member = false;
        for id in member_ids {
            self.out.stop(GroupTimer::Session(self.group.id.clone(), id.clone()));
            let Some(member) = self.group.remove(id) else { continue };
            was_member = true;
            self.answer_unknown(&member);
        }
        match self.group.state {
            GroupState::Stable | GroupState::CompletingRebalance if was_member => self.prepare_rebalance(),
            GroupState::PreparingRebalance if !by_leave && self.group.all_joined() => self.join_over_now(),
            GroupState::PreparingRebalance => self.maybe_join_over(),
            _ => {}
        }
    }

    fn refuse(&mut self, member_id: &Str) {
        if let Some(member) = self.group.remove(member_id) {
            self.out.stop(GroupTimer::Session(self.group.id.clone(), member_id.clone()));
            self.answer_unknown(&member);
            self.maybe_join_over();
        }
    }

    /// Whoever waits for something the group will not give it any more asks again.
    fn answer_unknown(&mut self, member: &Member) {
        if let Some(waiter) = member.join {
            self.out.reply(waiter, refusal(Str::default(), ErrorCode::UNKNOWN_MEMBER_ID));
        }
        if let Some(waiter) = member.sync {
            self.out.reply(waiter, sync_refusal(ErrorCode::UNKNOWN_MEMBER_ID));
        }
    }

    /// Starts a rebalance, or sees whether the one that runs is over.
    fn advance(&mut self) {
        match self.group.state {
            GroupState::PreparingRebalance => self.maybe_join_over(),
            _ => self.prepare_rebalance(),
        }
    }

    fn prepare_rebalance(&mut self) {
        if self.group.state == GroupState::CompletingRebalance {
            self.cancel_syncs();
        }
        self.group.pending_sync.clear();
        self.out.stop(GroupTimer::Sync(self.group.id.clone()));
        let delay_ms = self.config.initial_rebalance_delay_ms;
        let rebalance_timeout_ms = self.group.rebalance_timeout_ms();
        let is_first = self.group.state == GroupState::Empty;
        self.set_state(GroupState::PreparingRebalance);
        if is_first {
            let remaining_ms = rebalance_timeout_ms.saturating_sub(delay_ms).max(0);
            self.group.initial = Some(InitialDelay { delay_ms, remaining_ms, joined_since: false });
            self.arm_join(delay_ms);
        } else {
            self.arm_join(rebalance_timeout_ms);
            self.maybe_join_over();
        }
    }

    fn extend_initial_delay(&mut self) {
        let Some(initial) = self.group.initial.as_mut() else { return };
        let delay_ms = self.config.initial_rebalance_delay_ms.min(initial.remaining_ms);
        let remaining_ms = initial.remaining_ms.saturating_sub(initial.delay_ms).max(0);
        *initial = InitialDelay { delay_ms, remaining_ms, joined_since: false };
        self.arm_join(delay_ms);
    }

    fn maybe_join_over(&mut self) {
        let waits = self.group.state == GroupState::PreparingRebalance && self.group.initial.is_none();
        if waits && self.group.all_joined() {
            self.join_over_now();
        }
    }

    /// The runtime fires it within the same call: the decision may need a record.
    fn join_over_now(&mut self) {
        if let Some(initial) = self.group.initial.as_mut() {
            initial.joined_since = false;
        }
        self.arm_join(0);
    }

    fn await_rejoin(&mut self) {
        self.drop_unjoined();
        // Nothing has changed until somebody joins: armed for now, as a rebalance timeout of 0 wants it, it would fire for ever.
        self.arm_join(self.group.rebalance_timeout_ms().max(REJOIN_WAIT_MS_MIN));
    }

    fn drop_unjoined(&mut self) {
        let gone = |(id, member): (&Str, &Member)| {
            (member.join.is_none() && !member.is_static()).then(|| id.clone())
        };
        let gone: Vec<Str> = self.group.members.iter().filter_map(gone).collect();
        for id in gone {
            self.out.stop(GroupTimer::Session(self.group.id.clone(), id.clone()));
            self.group.remove(&id);
        }
    }

    /// Starts the next generation with those who wait: O(members), as is everything that happens once a rebalance.
    fn complete_join(&mut self) {
        self.drop_unjoined();
        self.elect_joined_leader();
        self.group.initial = None;
        self.group.generation = self.group.generation.wrapping_add(1).max(0);
        self.group.protocol_name = self.group.select_protocol();
        self.group.subscribed = subscribed_topics(self.group);
        self.set_state(GroupState::CompletingRebalance);
        let ids: Vec<Str> = self.group.members.keys().cloned().collect();
        for id in &ids {
            let waiter = self.group.members.get_mut(id).and_then(|member| {
                member.is_new = false;
                member.assignment = Bytes::new();
                member.join.take()
            });
            if let Some(waiter) = waiter {
                self.out.reply(waiter, GroupReply::Join(joined(self.group, id)));
                self.rearm_session(id);
            }
        }
        self.group.awaiting_join = 0;
        self.group.pending_sync = ids.into_iter().collect();
        self.out.stop(GroupTimer::Join(self.group.id.clone()));
        let deadline_ms = self.now.after(self.group.rebalance_timeout_ms());
        self.out.arm(GroupTimer::Sync(self.group.id.clone()), deadline_ms);
    }

    fn elect_joined_leader(&mut self) {
        let has_joined = |id: &Str| self.group.members.get(id).is_some_and(|member| member.join.is_some());
        if self.group.leader.as_ref().is_some_and(has_joined) {
            return;
        }
        let mut joined = self.group.members.iter().filter(|(_, member)| member.join.is_some());
        self.group.leader = joined.next().map(|(id, _)| id.clone());
    }

    fn await_sync(&mut self, member_id: &Str, waiter: WaiterId) {
        let older = self.group.members.get_mut(member_id).and_then(|member| member.sync.replace(waiter));
        if let Some(older) = older {
            self.out.reply(older, sync_refusal(ErrorCode::REBALANCE_IN_PROGRESS));
        }
        self.sync_seen(member_id);
    }

    fn sync_seen(&mut self, member_id: &Str) {
        self.group.pending_sync.remove(member_id);
        if self.group.pending_sync.is_empty() {
            self.out.stop(GroupTimer::Sync(self.group.id.clone()));
        }
    }

    /// Answers those who wait for an assignment; sessions start anew, for silence while waiting didn't count.
    fn answer_syncs(&mut self) {
        for (id, waiter) in self.take_sync_waiters() {
            if let Some(member) = self.group.members.get(&id) {
                self.out.reply(waiter, synced(self.group, member));
            }
            self.rearm_session(&id);
        }
    }

    fn cancel_syncs(&mut self) {
        for (id, waiter) in self.take_sync_waiters() {
            self.out.reply(waiter, sync_refusal(ErrorCode::REBALANCE_IN_PROGRESS));
            self.rearm_session(&id);
        }
    }

    fn take_sync_waiters(&mut self) -> Vec<(Str, WaiterId)> {
        let take = |(id, member): (&Str, &mut Member)| member.sync.take().map(|waiter| (id.clone(), waiter));
        self.group.members.iter_mut().filter_map(take).collect()
    }

    fn drop_unsynced(&mut self) {
        for id in std::mem::take(&mut self.group.pending_sync) {
            self.out.stop(GroupTimer::Session(self.group.id.clone(), id.clone()));
            self.group.remove(&id);
        }
        self.prepare_rebalance();
    }

    fn stop_phase_timers(&mut self) {
        self.out.stop(GroupTimer::Join(self.group.id.clone()));
        self.out.stop(GroupTimer::Sync(self.group.id.clone()));
    }

    fn set_state(&mut self, state: GroupState) {
        self.group.state = state;
        self.group.state_since_ms = Some(self.now.unix_ms);
    }

    fn arm_join(&mut self, delay_ms: i32) {
        let timer = GroupTimer::Join(self.group.id.clone());
        // Stopped first: arming for now must win over a later deadline, and a later one over it.
        self.out.stop(timer.clone());
        self.out.arm(timer, self.now.after(delay_ms));
    }

    fn rearm_session(&mut self, member_id: &Str) {
        // The group's own copy of the id: the request's would keep the whole request alive in the timer.
        let Some((id, member)) = self.group.members.get_key_value(member_id) else { return };
        let (id, timeout_ms) = (id.clone(), member.session_timeout_ms);
        self.arm_session(&id, timeout_ms);
    }

    fn arm_session(&mut self, member_id: &Str, timeout_ms: i32) {
        let timer = GroupTimer::Session(self.group.id.clone(), member_id.clone());
        self.out.arm(timer, self.now.after(timeout_ms));
    }
}

/// A member as its record made it: nobody waits on it.
fn unwaited(member: Member) -> Member {
    Member { join: None, sync: None, ..member }
}
