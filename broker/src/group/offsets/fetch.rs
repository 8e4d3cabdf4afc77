//! Answering OffsetFetch.

use protocol::messages::offset_fetch_request::{OffsetFetchRequestGroup, OffsetFetchRequestTopics};
use protocol::messages::offset_fetch_response::{
    OffsetFetchResponseGroup, OffsetFetchResponsePartitions, OffsetFetchResponseTopics,
};
use protocol::types::Uuid;

use super::store::{Committed, GroupOffsets};

/// The offsets asked for; all of the group's if none are named. A group or partition without one gets -1 and no error.
pub(crate) fn fetch(
    offsets: Option<&GroupOffsets>,
    request: &OffsetFetchRequestGroup,
) -> OffsetFetchResponseGroup {
    let topics = match &request.topics {
        Some(topics) => topics.iter().map(|topic| named(offsets, topic)).collect(),
        None => offsets.map(all).unwrap_or_default(),
    };
    OffsetFetchResponseGroup {
        group_id: request.group_id.clone(),
        topics,
        ..OffsetFetchResponseGroup::default()
    }
}

fn named(offsets: Option<&GroupOffsets>, topic: &OffsetFetchRequestTopics) -> OffsetFetchResponseTopics {
    let partitions = topic.partition_indexes.iter().map(|&partition| {
        let committed = offsets.and_then(|offsets| offsets.get(&topic.name, partition));
        // An offset of a deleted topic of the same name isn't one of this topic.
        answer(partition, committed.filter(|committed| same_topic(committed.topic_id, topic.topic_id)))
    });
    OffsetFetchResponseTopics {
        name: topic.name.clone(),
        topic_id: topic.topic_id,
        partitions: partitions.collect(),
        ..OffsetFetchResponseTopics::default()
    }
}

fn all(offsets: &GroupOffsets) -> Vec<OffsetFetchResponseTopics> {
    let topics = offsets.topics().map(|(name, partitions)| OffsetFetchResponseTopics {
        name: name.clone(),
        partitions: partitions
            .iter()
            .map(|(partition, committed)| answer(*partition, Some(committed)))
            .collect(),
        ..OffsetFetchResponseTopics::default()
    });
    topics.collect()
}

fn same_topic(stored: Uuid, asked: Uuid) -> bool {
    stored.is_zero() || asked.is_zero() || stored == asked
}

fn answer(partition: i32, committed: Option<&Committed>) -> OffsetFetchResponsePartitions {
    let (offset, leader_epoch, metadata) = committed.map_or((-1, -1, Default::default()), |committed| {
        (committed.offset, committed.leader_epoch, committed.metadata.clone())
    });
    OffsetFetchResponsePartitions {
        partition_index: partition,
        committed_offset: offset,
        committed_leader_epoch: leader_epoch,
        metadata: Some(metadata),
        ..OffsetFetchResponsePartitions::default()
    }
}
