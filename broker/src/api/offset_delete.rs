//! OffsetDelete: committed offsets of topics that nobody in the group reads are forgotten (KIP-496).

use std::collections::BTreeMap;
use std::rc::Rc;

use protocol::error::ErrorCode;
use protocol::messages::offset_delete_request::OffsetDeleteRequestTopic;
use protocol::messages::offset_delete_response::{OffsetDeleteResponsePartition, OffsetDeleteResponseTopic};
use protocol::messages::{OffsetDeleteRequest, OffsetDeleteResponse};
use protocol::types::Str;

use super::{Close, coordinator};
use crate::group::{GroupReply, GroupRequest};
use crate::metadata::Image;
use crate::server::{RequestContext, ShardState};

/// Answers OffsetDelete 0, by the group's coordinator. Partitions that don't exist aren't its business.
///
/// # Errors
/// The node is stopping.
pub async fn handle(
    shard: &Rc<ShardState>,
    _context: &RequestContext,
    request: OffsetDeleteRequest,
) -> Result<OffsetDeleteResponse, Close> {
    let OffsetDeleteRequest { group_id, topics, .. } = request;
    let (known, unknown) = split(&shard.image.borrow(), topics);
    let missing = unknown.into_iter().map(|topic| {
        let code = ErrorCode::UNKNOWN_TOPIC_OR_PARTITION.code();
        let partitions = topic.partitions.iter().map(|partition| OffsetDeleteResponsePartition {
            partition_index: partition.partition_index,
            error_code: code,
        });
        OffsetDeleteResponseTopic { name: topic.name, partitions: partitions.collect() }
    });
    let missing: Vec<OffsetDeleteResponseTopic> = missing.collect();
    // As in Kafka the group isn't looked at then, so that it may be one that doesn't exist.
    if known.is_empty() && !missing.is_empty() {
        return Ok(OffsetDeleteResponse { topics: missing, ..OffsetDeleteResponse::default() });
    }
    let asked = OffsetDeleteRequest { group_id: group_id.clone(), topics: known };
    let reply = coordinator::ask(shard, &group_id, GroupRequest::OffsetDelete(asked)).await?;
    let GroupReply::OffsetDelete(mut response) = reply else {
        return Err(coordinator::unexpected(&reply));
    };
    if response.error_code == ErrorCode::NONE.code() {
        let places: BTreeMap<Str, usize> =
            response.topics.iter().enumerate().map(|(at, topic)| (topic.name.clone(), at)).collect();
        for topic in missing {
            match places.get(&topic.name) {
                Some(at) => response.topics[*at].partitions.extend(topic.partitions),
                None => response.topics.push(topic),
            }
        }
    }
    Ok(response)
}

/// The partitions that exist and those that don't, by topic.
fn split(
    image: &Image,
    topics: Vec<OffsetDeleteRequestTopic>,
) -> (Vec<OffsetDeleteRequestTopic>, Vec<OffsetDeleteRequestTopic>) {
    let (mut known, mut unknown) = (Vec::new(), Vec::new());
    for OffsetDeleteRequestTopic { name, partitions, .. } in topics {
        let found = image.topic(&name);
        let exists = |index: i32| found.is_some_and(|topic| topic.partition(index).is_some());
        let (here, gone): (Vec<_>, Vec<_>) =
            partitions.into_iter().partition(|partition| exists(partition.partition_index));
        for (into, partitions) in [(&mut known, here), (&mut unknown, gone)] {
            if !partitions.is_empty() {
                into.push(OffsetDeleteRequestTopic { name: name.clone(), partitions });
            }
        }
    }
    (known, unknown)
}
