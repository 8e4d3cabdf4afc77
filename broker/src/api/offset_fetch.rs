//! OffsetFetch, of one group or several (KIP-709).

use std::collections::BTreeSet;
use std::rc::Rc;

use protocol::error::ErrorCode;
use protocol::messages::offset_fetch_request::OffsetFetchRequestGroup;
use protocol::messages::offset_fetch_response::OffsetFetchResponseGroup;
use protocol::messages::{OffsetFetchRequest, OffsetFetchResponse};
use protocol::types::Str;

use super::repeats::Repeats;
use super::{Close, coordinator};
use crate::group::api::{single_fetch, single_fetch_response};
use crate::group::{GroupReply, GroupRequest};
use crate::server::{RequestContext, ShardState};

/// The first version that asks for several groups.
const GROUPS_VERSION: i16 = 8;

/// Answers OffsetFetch 1-10, by the groups' coordinators.
///
/// # Errors
/// The node is stopping.
pub async fn handle(
    shard: &Rc<ShardState>,
    context: &RequestContext,
    request: OffsetFetchRequest,
) -> Result<OffsetFetchResponse, Close> {
    let version = context.api_version;
    if version < GROUPS_VERSION {
        let mut groups = fetch(shard, version, vec![single_fetch(&request)]).await?;
        let group = groups.pop().ok_or(Close)?;
        return Ok(single_fetch_response(version, &request, group));
    }
    let groups = fetch(shard, version, request.groups).await?;
    Ok(OffsetFetchResponse { groups, ..OffsetFetchResponse::default() })
}

/// The answer for each group, in the order of the questions. Those that repeat something are asked for one after the other, so that no more
/// than one is there that isn't counted.
async fn fetch(
    shard: &Rc<ShardState>,
    version: i16,
    groups: Vec<OffsetFetchRequestGroup>,
) -> Result<Vec<OffsetFetchResponseGroup>, Close> {
    coordinator::check_count(groups.len())?;
    let repeats = Repeats::within(shard.network.answer_bytes_max);
    let repeating: Vec<bool> =
        groups.iter().map(|group| !repeats.is_first(group.group_id.clone()) || names_twice(group)).collect();
    let (mut again, mut once) = (Vec::new(), Vec::new());
    for (group, repeats) in groups.into_iter().zip(&repeating) {
        let question = (group.group_id.clone(), GroupRequest::Fetch(group, version));
        if *repeats { again.push(question) } else { once.push(question) }
    }
    let mut once = coordinator::ask_each(shard, once.into_iter()).await?.into_iter();
    let mut again = again.into_iter();
    let mut fetched_groups = Vec::with_capacity(repeating.len());
    for repeating in repeating {
        let reply = match repeating {
            false => once.next(),
            true => match again.next() {
                Some((group_id, question)) => Some(repeat(shard, &repeats, &group_id, question).await?),
                None => None,
            },
        };
        fetched_groups.push(fetched(reply.ok_or(Close)?)?);
    }
    Ok(fetched_groups)
}

async fn repeat(
    shard: &Rc<ShardState>,
    repeats: &Repeats<Str>,
    group_id: &str,
    question: GroupRequest,
) -> Result<GroupReply, Close> {
    let refusal = question.refused(ErrorCode::INVALID_REQUEST);
    if repeats.is_full() {
        rt::yield_point().await;
        return Ok(refusal);
    }
    match coordinator::ask(shard, group_id, question).await? {
        GroupReply::Fetch(group) if !repeats.fits(bytes(&group)) => Ok(refusal),
        reply => Ok(reply),
    }
}

/// Whether a topic, or a partition of one, is named more than once.
fn names_twice(group: &OffsetFetchRequestGroup) -> bool {
    let mut topics = BTreeSet::new();
    group.topics.iter().flatten().any(|topic| {
        let mut partitions = BTreeSet::new();
        !topics.insert((&topic.name, topic.topic_id))
            || !topic.partition_indexes.iter().all(|index| partitions.insert(*index))
    })
}

/// What a group's offsets take in an answer and until it is sent, about.
fn bytes(group: &OffsetFetchResponseGroup) -> usize {
    let partitions = group.topics.iter().flat_map(|topic| &topic.partitions);
    let partitions = partitions
        .map(|partition| size_of_val(partition) + partition.metadata.as_ref().map_or(0, |text| text.len()));
    size_of_val(group) + group.topics.iter().map(size_of_val).sum::<usize>() + partitions.sum::<usize>()
}

fn fetched(reply: GroupReply) -> Result<OffsetFetchResponseGroup, Close> {
    match reply {
        GroupReply::Fetch(group) => Ok(group),
        other => Err(coordinator::unexpected(&other)),
    }
}
