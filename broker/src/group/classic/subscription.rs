//! What the members of a consumer group read.

use std::collections::BTreeSet;

use protocol::internal::{ConsumerProtocolSubscription, decode_versioned_lenient};
use protocol::types::Str;

use super::group::ClassicGroup;

/// The topics of all members under the chosen protocol. `None` if the group isn't a consumer group or a subscription can't be
/// read: then nothing is known, and no offset may be expired as unread.
pub(super) fn subscribed_topics(group: &ClassicGroup) -> Option<BTreeSet<Str>> {
    if !group.is_consumer() {
        return None;
    }
    if group.members.is_empty() {
        return Some(BTreeSet::new());
    }
    let protocol = group.protocol_name.as_ref()?;
    let mut topics = BTreeSet::new();
    for member in group.members.values() {
        let metadata = member.metadata(protocol);
        let (_, subscription) = decode_versioned_lenient::<ConsumerProtocolSubscription>(&metadata).ok()?;
        for topic in &subscription.topics {
            if !topics.contains(topic) {
                topics.insert(topic.detached());
            }
        }
    }
    Some(topics)
}
