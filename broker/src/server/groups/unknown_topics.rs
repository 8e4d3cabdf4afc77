//! Offsets of topics that were deleted before their offsets went: a restart came between.

use std::collections::BTreeSet;
use std::rc::Rc;
use std::time::Duration;

use protocol::types::{Str, Uuid};

use super::coordinators::ShardCoordinator;
use crate::group::coordinator::Phase;
use crate::server::ShardState;

/// How often a coordinator that loads is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// Has the coordinator of that partition of `__consumer_offsets`, once it is loaded, drop the offsets of topics that the shard's metadata don't
/// know. Whatever is committed was decided on with metadata that are older: a topic that isn't there now is gone for good.
pub(crate) async fn forget_unknown_topics(shard: Rc<ShardState>, partition: i32) {
    let Some(coordinator) = shard.coordinators.get(partition) else { return };
    while matches!(coordinator.phase(), Phase::Loading | Phase::Failed) {
        rt::sleep(LOOK_EVERY).await;
    }
    let mut unknown = BTreeSet::new();
    let mut from = Some(Str::default());
    while let Some(group) = from {
        let Some((topics, next)) = coordinator.inspect(|groups| groups.topics_with_offsets(&group)) else {
            return;
        };
        unknown.extend(topics.into_iter().filter(|(name, id)| !is_known(&shard, name, *id)));
        from = next;
        rt::yield_point().await;
    }
    tell(&coordinator, partition, unknown);
}

fn is_known(shard: &ShardState, name: &Str, id: Uuid) -> bool {
    let image = shard.image.borrow();
    if id.is_zero() { image.topic(name).is_some() } else { image.topic_by_id(id).is_some() }
}

fn tell(coordinator: &ShardCoordinator, partition: i32, unknown: BTreeSet<(Str, Uuid)>) {
    if unknown.is_empty() {
        return;
    }
    tracing::info!(partition, topics = unknown.len(), "offsets of topics that are gone are dropped");
    coordinator.topics_deleted(unknown.into_iter().collect());
}
