//! Which offsets are past their time (KIP-211).

use protocol::types::Str;

use super::store::Committed;
use crate::group::classic::{ClassicGroup, GroupState};
use crate::group::config::GroupConfig;
use crate::group::decider::Group;

/// The offsets of a group that have expired at `now_ms`:
/// - of an empty group, all once it has been empty for the retention time;
/// - of a stable consumer group, those of topics nobody reads, the retention time after their commit;
/// - of a group without members ever, each the retention time after its commit;
/// - those with an expiry of their own, after it.
pub(crate) fn expired<'a>(
    group: &'a Group,
    config: &'a GroupConfig,
    now_ms: i64,
) -> impl Iterator<Item = (&'a Str, i32)> {
    let base = base(&group.classic);
    let all = group.offsets.all().filter(move |(topic, _, committed)| {
        let Some(base) = base else { return false };
        !group.classic.is_subscribed(topic) && is_expired(committed, base, config, now_ms)
    });
    all.map(|(topic, partition, _)| (topic, partition))
}

/// From when the retention time counts.
#[derive(Debug, Clone, Copy)]
enum Base {
    Commit,
    Time(i64),
}

/// `None`: nothing of this group expires now.
fn base(group: &ClassicGroup) -> Option<Base> {
    if group.protocol_type.is_none() {
        return Some(Base::Commit);
    }
    match group.state {
        GroupState::Empty => Some(group.state_since_ms.map_or(Base::Commit, Base::Time)),
        GroupState::Stable if group.is_consumer() && group.subscribed.is_some() => Some(Base::Commit),
        _ => None,
    }
}

fn is_expired(committed: &Committed, base: Base, config: &GroupConfig, now_ms: i64) -> bool {
    if committed.expires_ms >= 0 {
        return now_ms >= committed.expires_ms;
    }
    let from_ms = match base {
        Base::Commit => committed.committed_ms,
        Base::Time(since_ms) => since_ms,
    };
    now_ms.saturating_sub(from_ms) >= config.offsets_retention_ms
}
