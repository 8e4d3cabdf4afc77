//! Offsets of topics that were deleted before their offsets went: a restart came between.

use std::collections::BTreeSet;
use std::rc::Rc;
use std::time::Duration;

use protocol::types::{Str, Uuid};

use super::coordinators::ShardCoordinator;
use crate::group::coordinator::Phase;
use crate::group::offsets::OffsetPlace;
use crate::server::ShardState;

/// How often a coordinator that loads is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// Has the coordinator of that partition of `__consumer_offsets`, once it is loaded, drop the offsets of topics that the shard's metadata know
/// to be deleted. Those of a topic that is merely unknown stay: the metadata log may be older than they are. So do those that don't tell their
/// topic's id.
pub(crate) async fn forget_deleted_topics(shard: Rc<ShardState>, partition: i32) {
    let Some(coordinator) = shard.coordinators.get(partition) else { return };
    while matches!(coordinator.phase(), Phase::Loading | Phase::Failed) {
        rt::sleep(LOOK_EVERY).await;
    }
    // Of those deleted from now on the coordinator is told.
    let deleted = shard.image.borrow().removed_topics();
    let mut gone = BTreeSet::new();
    let mut from = Some(OffsetPlace::default());
    while let Some(place) = from {
        let Some((topics, next)) = coordinator.inspect(|groups| groups.topics_with_offsets(place)) else {
            return;
        };
        gone.extend(topics.into_iter().filter(|(_, id)| deleted.contains(id)));
        from = next;
        rt::yield_point().await;
    }
    tell(&coordinator, partition, gone);
}

fn tell(coordinator: &ShardCoordinator, partition: i32, gone: BTreeSet<(Str, Uuid)>) {
    if gone.is_empty() {
        return;
    }
    tracing::info!(partition, topics = gone.len(), "offsets of topics that are gone are dropped");
    coordinator.topics_deleted(gone.into_iter().collect());
}
