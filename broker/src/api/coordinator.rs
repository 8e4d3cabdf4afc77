//! The way to the coordinators of groups.

use std::pin::pin;
use std::rc::Rc;
use std::time::Duration;

use futures_util::future::{Either, join_all, select, try_join_all};
use protocol::error::ErrorCode;
use protocol::types::Str;
use shards::PartitionKey;

use super::Close;
use super::parts::Parts;
use crate::group::{GroupReply, GroupRequest, partition_for_group};
use crate::metadata::image::OFFSETS_TOPIC;
use crate::server::{Answer, Piece, RequestContext, ShardState};

/// Asks the coordinator of a group. Without `__consumer_offsets` there is none: NOT_COORDINATOR.
///
/// # Errors
/// The owning shard has ended: the node is stopping.
pub(super) async fn ask(
    shard: &Rc<ShardState>,
    group_id: &str,
    request: GroupRequest,
) -> Result<GroupReply, Close> {
    match offsets_partition(shard, group_id) {
        Some(key) => only(ask_partition(shard, key, vec![request]).await?),
        None => Ok(request.refused(ErrorCode::NOT_COORDINATOR)),
    }
}

/// How long it takes at most until a request is with its coordinator, which keeps nothing of its arrays while it waits for others.
const TAKEN_AFTER: Duration = Duration::from_secs(1);

/// As [`ask`], for what may wait for other members, and is counted without its arrays then. When the shard drains the answer is
/// NOT_COORDINATOR: the client looks for the coordinator, and finds it where this node is again.
///
/// # Errors
/// As of [`ask`].
pub(super) async fn ask_patiently(
    shard: &Rc<ShardState>,
    context: &RequestContext,
    group_id: &str,
    request: GroupRequest,
) -> Result<GroupReply, Close> {
    let refusal = request.refused(ErrorCode::NOT_COORDINATOR);
    let asked = pin!(ask(shard, group_id, request));
    let over = pin!(shard.network.grace_over());
    let asked = select(asked, over);
    let answered = match select(asked, pin!(rt::sleep(TAKEN_AFTER))).await {
        Either::Left((answered, _)) => answered,
        Either::Right(((), asked)) => {
            context.memory.keep_frame();
            asked.await
        }
    };
    match answered {
        Either::Left((answer, _)) => answer,
        Either::Right(_) => Ok(refusal),
    }
}

/// Groups that one request may name: each costs its answer some hundred bytes of memory, its name may take one byte of the request.
const GROUPS_PER_REQUEST_MAX: usize = 100_000;

/// Refuses a request that names too many groups.
///
/// # Errors
/// There are more than [`GROUPS_PER_REQUEST_MAX`].
pub(super) fn check_count(count: usize) -> Result<(), Close> {
    if count > GROUPS_PER_REQUEST_MAX {
        tracing::debug!(count, "a request for too many groups: its connection is closed");
        return Err(Close);
    }
    Ok(())
}

/// Asks the coordinator of each group, with one piece for each partition. The replies are in the order of the questions.
///
/// # Errors
/// As of [`ask`] and [`check_count`].
pub(super) async fn ask_each(
    shard: &Rc<ShardState>,
    questions: impl ExactSizeIterator<Item = (Str, GroupRequest)>,
) -> Result<Vec<GroupReply>, Close> {
    check_count(questions.len())?;
    let mut replies = Vec::with_capacity(questions.len());
    let mut by_partition = Parts::new();
    for (at, (group_id, request)) in questions.enumerate() {
        replies.push(request.refused(ErrorCode::NOT_COORDINATOR));
        if let Some(key) = offsets_partition(shard, &group_id) {
            by_partition.add(key, at, request);
        }
    }
    let asked = by_partition.into_iter().map(|(key, (places, requests))| async move {
        Ok(places.into_iter().zip(ask_partition(shard, key, requests).await?))
    });
    for (at, reply) in try_join_all(asked).await?.into_iter().flatten() {
        replies[at] = reply;
    }
    Ok(replies)
}

/// Asks the coordinators of all partitions, at the same time. In no order that matters; without those of shards that have ended.
pub(super) async fn ask_all(shard: &Rc<ShardState>, request: impl Fn() -> GroupRequest) -> Vec<GroupReply> {
    let (topic_id, count) = offsets_topic(shard).unwrap_or_default();
    let keys = (0..count).map(|partition| PartitionKey { topic_id, partition });
    let asked = keys.map(|key| ask_partition(shard, key, vec![request()]));
    join_all(asked).await.into_iter().flatten().flatten().collect()
}

/// A reply of another kind than was asked for: our own mistake.
pub(super) fn unexpected(reply: &GroupReply) -> Close {
    tracing::error!(?reply, "a coordinator answered something else");
    Close
}

async fn ask_partition(
    shard: &Rc<ShardState>,
    key: PartitionKey,
    requests: Vec<GroupRequest>,
) -> Result<Vec<GroupReply>, Close> {
    let Some(owner) = shard.owner(&key).await else {
        return Ok(requests.iter().map(|request| request.refused(ErrorCode::NOT_COORDINATOR)).collect());
    };
    match shard.call(owner, Piece::Group { partition: key.partition, requests }).await {
        Answer::Group(replies) => Ok(replies),
        _ => Err(Close),
    }
}

fn only(mut replies: Vec<GroupReply>) -> Result<GroupReply, Close> {
    replies.pop().ok_or(Close)
}

/// The partition of `__consumer_offsets` that holds the group.
fn offsets_partition(shard: &Rc<ShardState>, group_id: &str) -> Option<PartitionKey> {
    let (topic_id, count) = offsets_topic(shard)?;
    Some(PartitionKey { topic_id, partition: partition_for_group(group_id, count) })
}

fn offsets_topic(shard: &Rc<ShardState>) -> Option<(protocol::types::Uuid, i32)> {
    let image = shard.image.borrow();
    let topic = image.topic(OFFSETS_TOPIC)?;
    Some((topic.id, i32::try_from(topic.partitions.len()).unwrap_or(i32::MAX)))
}
