//! Deciding on a group's timers.

use super::change::ClassicChange;
use super::group::{ClassicGroup, GroupState};
use super::record::empty_group_value;
use crate::group::coordinator::{Decision, Now};
use crate::group::decider::{GroupChange, GroupDecider};
use crate::group::record::Record;

/// The join phase is over, or its time is up: whoever waits makes up the next generation. Static members that don't wait stay in it, dynamic ones are
/// out (they may come back in the next one).
pub(crate) fn decide_join_over(now: Now, group: &ClassicGroup) -> Decision<GroupDecider> {
    if group.state != GroupState::PreparingRebalance {
        return Decision::nothing();
    }
    let change = |change| Decision::change(GroupChange::Classic { group: group.id.clone(), change });
    if group.initial.is_some_and(|initial| initial.joined_since && initial.remaining_ms > 0) {
        return change(ClassicChange::ExtendInitialDelay);
    }
    let stays = group.members.values().any(|member| member.join.is_some() || member.is_static());
    if group.awaiting_join > 0 {
        return change(ClassicChange::CompleteJoin);
    }
    if stays {
        return change(ClassicChange::AwaitRejoin);
    }
    let value = empty_group_value(group, now.unix_ms);
    match Record::group(&group.id, &value) {
        Ok(record) => Decision { records: vec![record], ..change(ClassicChange::BecameEmpty) },
        Err(error) => {
            tracing::error!(%error, "group record can't be written");
            Decision::nothing()
        }
    }
}

/// Members had their time to ask for their assignment.
pub(crate) fn decide_sync_over(group: &ClassicGroup) -> Decision<GroupDecider> {
    let waits = matches!(group.state, GroupState::CompletingRebalance | GroupState::Stable);
    if !waits || group.pending_sync.is_empty() {
        return Decision::nothing();
    }
    Decision::change(GroupChange::Classic { group: group.id.clone(), change: ClassicChange::DropUnsynced })
}

/// A member, or an id given out, wasn't heard of for its session timeout.
pub(crate) fn decide_session_over(group: &ClassicGroup, member_id: &str) -> Decision<GroupDecider> {
    let pending = group.pending.contains(member_id);
    let silent = group.members.get(member_id).is_some_and(|member| !member.is_heard());
    if !pending && !silent {
        return Decision::nothing();
    }
    let member_ids = vec![member_id.into()];
    let change = ClassicChange::Remove { member_ids, by_leave: false };
    Decision::change(GroupChange::Classic { group: group.id.clone(), change })
}
