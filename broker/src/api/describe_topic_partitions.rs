//! DescribeTopicPartitions: topics with their partitions, a page at a time (KIP-966).

use std::collections::BTreeSet;
use std::rc::Rc;

use protocol::error::ErrorCode;
use protocol::messages::describe_topic_partitions_request::Cursor as Start;
use protocol::messages::describe_topic_partitions_response::{
    Cursor, DescribeTopicPartitionsResponsePartition, DescribeTopicPartitionsResponseTopic,
};
use protocol::messages::{DescribeTopicPartitionsRequest, DescribeTopicPartitionsResponse};
use protocol::types::Str;

use super::{authorized, brokers};
use crate::metadata::Image;
use crate::metadata::controller::check_topic_name;
use crate::metadata::image::Topic;
use crate::server::{RequestContext, ShardState};

/// Answers DescribeTopicPartitions 0: topics by name, from the cursor on, with at most as many partitions as the client and
/// `max.request.partition.size.limit` allow.
pub async fn handle(
    shard: &Rc<ShardState>,
    context: &RequestContext,
    request: DescribeTopicPartitionsRequest,
) -> DescribeTopicPartitionsResponse {
    let alive: BTreeSet<i32> = brokers::all(shard, context).into_iter().map(|broker| broker.id).collect();
    let limit = shard.broker_values().number("max.request.partition.size.limit");
    let wanted = u64::try_from(request.response_partition_limit).unwrap_or_default();
    let limit = usize::try_from(wanted.min(limit)).unwrap_or(usize::MAX).max(1);
    answer(&shard.image.borrow(), &alive, request, limit)
}

/// The page, if `alive` are the brokers that serve.
pub(super) fn answer(
    image: &Image,
    alive: &BTreeSet<i32>,
    request: DescribeTopicPartitionsRequest,
    limit: usize,
) -> DescribeTopicPartitionsResponse {
    let start = request.cursor.unwrap_or_default();
    let from = &start.topic_name;
    let asked: BTreeSet<&str> = request.topics.iter().map(|topic| topic.name.as_str()).collect();
    // The topic where a page ended may have gone since, but whoever names topics names that one.
    let strays = !from.is_empty() && !asked.is_empty() && !asked.contains(from.as_str());
    if start.partition_index < 0 || strays {
        let refused =
            asked.into_iter().map(|name| unknown(name, ErrorCode::INVALID_REQUEST, authorized::NOT_ASKED));
        return DescribeTopicPartitionsResponse { topics: refused.collect(), ..Default::default() };
    }
    let names: Box<dyn Iterator<Item = &str>> = match asked.is_empty() {
        true => Box::new(image.topic_names_from(from)),
        false => Box::new(asked.into_iter().skip_while(|name| *name < from.as_str())),
    };
    page(image, alive, names, &start, limit)
}

fn page<'a>(
    image: &Image,
    alive: &BTreeSet<i32>,
    names: impl Iterator<Item = &'a str>,
    start: &Start,
    limit: usize,
) -> DescribeTopicPartitionsResponse {
    let (mut topics, mut left) = (Vec::new(), limit);
    for name in names {
        let Some(topic) = image.topic(name) else {
            let known = check_topic_name(name).is_ok();
            let code = match known {
                true => ErrorCode::UNKNOWN_TOPIC_OR_PARTITION,
                false => ErrorCode::INVALID_TOPIC_EXCEPTION,
            };
            topics.push(unknown(name, code, authorized::ON_TOPIC));
            continue;
        };
        let first = if start.topic_name == *name { start.partition_index.unsigned_abs() as usize } else { 0 };
        let end = topic.partitions.len();
        let upto = end.min(first.saturating_add(left));
        if left > 0 {
            topics.push(known(image, topic, first.min(upto)..upto, alive));
            left -= upto.saturating_sub(first);
        }
        let unfinished = if upto < end && first < end { Some(upto) } else { None };
        if let Some(next) = unfinished {
            let next_cursor = Cursor {
                topic_name: Str::from(name),
                partition_index: i32::try_from(next).unwrap_or(i32::MAX),
                ..Cursor::default()
            };
            return DescribeTopicPartitionsResponse {
                topics,
                next_cursor: Some(next_cursor),
                ..Default::default()
            };
        }
    }
    DescribeTopicPartitionsResponse { topics, ..Default::default() }
}

fn known(
    image: &Image,
    topic: &Topic,
    range: std::ops::Range<usize>,
    alive: &BTreeSet<i32>,
) -> DescribeTopicPartitionsResponseTopic {
    let partitions = range.filter_map(|index| {
        let partition = topic.partitions.get(index)?;
        let has_leader = alive.contains(&partition.leader);
        let code = if has_leader { ErrorCode::NONE } else { ErrorCode::LEADER_NOT_AVAILABLE };
        Some(DescribeTopicPartitionsResponsePartition {
            error_code: code.code(),
            partition_index: i32::try_from(index).unwrap_or(i32::MAX),
            leader_id: if has_leader { partition.leader } else { -1 },
            leader_epoch: partition.leader_epoch,
            replica_nodes: partition.replicas.clone(),
            isr_nodes: partition.isr.clone(),
            // None yet: replicas outside the ISR can't be elected without losing records.
            eligible_leader_replicas: Some(Vec::new()),
            last_known_elr: Some(Vec::new()),
            offline_replicas: image.offline_replicas(partition, alive),
            ..Default::default()
        })
    });
    DescribeTopicPartitionsResponseTopic {
        name: Some(topic.name.clone()),
        topic_id: topic.id,
        is_internal: topic.is_internal(),
        partitions: partitions.collect(),
        topic_authorized_operations: authorized::ON_TOPIC,
        ..Default::default()
    }
}

fn unknown(
    name: &str,
    code: ErrorCode,
    topic_authorized_operations: i32,
) -> DescribeTopicPartitionsResponseTopic {
    DescribeTopicPartitionsResponseTopic {
        error_code: code.code(),
        name: Some(Str::from(name)),
        topic_authorized_operations,
        ..Default::default()
    }
}
