//! The way to the coordinator of a group.

use std::rc::Rc;

use futures_util::future::join_all;
use protocol::error::ErrorCode;
use shards::PartitionKey;

use super::internal_topics::OFFSETS_TOPIC;
use crate::group::RequestContext as GroupContext;
use crate::group::partition_for_group;
use crate::server::groups::{GroupAnswer, GroupRequest};
use crate::server::{Answer, Piece, RequestContext, ShardState};

/// Asks the coordinator of a group. Without `__consumer_offsets` there is none: NOT_COORDINATOR.
pub(super) async fn ask(
    shard: &Rc<ShardState>,
    context: &RequestContext,
    group_id: &str,
    request: GroupRequest,
) -> Option<GroupAnswer> {
    let keys = partitions(shard);
    let count = i32::try_from(keys.len()).unwrap_or(i32::MAX);
    let wanted = partition_for_group(group_id, count);
    match keys.into_iter().find(|key| key.partition == wanted) {
        Some(key) => ask_partition(shard, context, key, request).await,
        None => Some(request.refused(ErrorCode::NOT_COORDINATOR)),
    }
}

/// Asks the coordinators of all partitions that this node leads, at the same time. In no order that matters.
pub(super) async fn ask_all(
    shard: &Rc<ShardState>,
    context: &RequestContext,
    request: impl Fn() -> GroupRequest,
) -> Vec<Option<GroupAnswer>> {
    let asked = partitions(shard).into_iter().map(|key| ask_partition(shard, context, key, request()));
    join_all(asked).await
}

async fn ask_partition(
    shard: &Rc<ShardState>,
    context: &RequestContext,
    key: PartitionKey,
    request: GroupRequest,
) -> Option<GroupAnswer> {
    let Some(owner) = shard.owner(&key) else {
        return Some(request.refused(ErrorCode::NOT_COORDINATOR));
    };
    let context = GroupContext {
        client_id: context.client_id.clone(),
        client_host: context.client_host.clone(),
        api_version: context.api_version,
    };
    let piece = Piece::Group { partition: key.partition, context, request };
    match shard.call(owner, piece).await {
        Answer::Group(answer) => Some(answer),
        // The owning shard has ended.
        _ => None,
    }
}

fn partitions(shard: &Rc<ShardState>) -> Vec<PartitionKey> {
    let image = shard.image.borrow();
    let Some(topic) = image.topic(OFFSETS_TOPIC) else { return Vec::new() };
    (0..)
        .zip(&topic.partitions)
        .map(|(partition, _)| PartitionKey { topic_id: topic.id, partition })
        .collect()
}
