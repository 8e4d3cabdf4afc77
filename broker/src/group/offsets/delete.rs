//! Deciding on what ends offsets and groups: OffsetDelete, DeleteGroups, expiry.

use protocol::error::ErrorCode;
use protocol::messages::offset_delete_response::{OffsetDeleteResponsePartition, OffsetDeleteResponseTopic};
use protocol::messages::{OffsetDeleteRequest, OffsetDeleteResponse};
use protocol::types::Str;

use super::expire::expired;
use crate::group::classic::GroupState;
use crate::group::config::GroupConfig;
use crate::group::coordinator::{Decision, Now};
use crate::group::decider::{Group, GroupDecider};
use crate::group::limits::{CLEANUP_RECORDS_BYTES_MAX, RETENTION_OFFSETS_PER_STEP};
use crate::group::record::Record;
use crate::group::request::GroupReply;

/// Decides on OffsetDelete: not of topics a live member reads.
pub(crate) fn decide_offset_delete(
    group: Option<&Group>,
    request: &OffsetDeleteRequest,
) -> Decision<GroupDecider> {
    let refuse = |code: ErrorCode| {
        let error_code = code.code();
        Decision::reply(GroupReply::OffsetDelete(OffsetDeleteResponse { error_code, ..Default::default() }))
    };
    let Some(group) = group else { return refuse(ErrorCode::GROUP_ID_NOT_FOUND) };
    if group.classic.state != GroupState::Empty && !group.classic.is_consumer() {
        return refuse(ErrorCode::NON_EMPTY_GROUP);
    }
    let mut records = Vec::new();
    let topics = request.topics.iter().map(|topic| {
        let is_read = group.classic.is_subscribed(&topic.name);
        let code = if is_read { ErrorCode::GROUP_SUBSCRIBED_TO_TOPIC } else { ErrorCode::NONE };
        let partitions = topic.partitions.iter().map(|partition| {
            let index = partition.partition_index;
            if !is_read && group.offsets.get(&topic.name, index).is_some() {
                records.extend(Record::offset_tombstone(&request.group_id, &topic.name, index).ok());
            }
            OffsetDeleteResponsePartition { partition_index: index, error_code: code.code() }
        });
        let partitions = partitions.collect();
        OffsetDeleteResponseTopic { name: topic.name.clone(), partitions }
    });
    let topics = topics.collect();
    let reply = GroupReply::OffsetDelete(OffsetDeleteResponse { topics, ..Default::default() });
    Decision { records, ..Decision::reply(reply) }
}

/// Decides on the deletion of a group: a tombstone on every key of it, in one batch.
pub(crate) fn decide_delete(group: Option<&Group>) -> Decision<GroupDecider> {
    let refuse = |code| Decision::reply(GroupReply::Code(code));
    let Some(group) = group else { return refuse(ErrorCode::GROUP_ID_NOT_FOUND) };
    if group.classic.state != GroupState::Empty {
        return refuse(ErrorCode::NON_EMPTY_GROUP);
    }
    let id = &group.classic.id;
    let mut records: Vec<Record> = group
        .offsets
        .all()
        .filter_map(|(topic, partition, _)| Record::offset_tombstone(id, topic, partition).ok())
        .collect();
    records.extend(Record::group_tombstone(id).ok());
    Decision { records, ..refuse(ErrorCode::NONE) }
}

/// Tombstones of what has expired, groups that end with it included, bounded in bytes and in offsets looked at; and the group to go on
/// with, if that wasn't all.
pub(crate) fn expired_records<'a>(
    groups: impl Iterator<Item = &'a Group>,
    config: &GroupConfig,
    now: Now,
) -> (Vec<Record>, Option<Str>) {
    let mut batch = Bounded::default();
    let mut looked_at = 0usize;
    for group in groups {
        let id = &group.classic.id;
        if looked_at >= RETENTION_OFFSETS_PER_STEP {
            return (batch.records, Some(id.clone()));
        }
        let mut expired_count = 0usize;
        for (topic, partition) in expired(group, config, now.unix_ms) {
            expired_count += 1;
            if !batch.push(Record::offset_tombstone(id, topic, partition).ok()) {
                return (batch.records, Some(id.clone()));
            }
        }
        let offsets_count = group.offsets.all().count();
        looked_at += offsets_count + 1;
        let ends = group.classic.state == GroupState::Empty
            && group.classic.pending.is_empty()
            && expired_count == offsets_count;
        if ends && !batch.push(Record::group_tombstone(id).ok()) {
            return (batch.records, Some(id.clone()));
        }
    }
    (batch.records, None)
}

/// Records up to [`CLEANUP_RECORDS_BYTES_MAX`].
#[derive(Default)]
pub(super) struct Bounded {
    pub(super) records: Vec<Record>,
    bytes: usize,
}

impl Bounded {
    /// Takes a record; false if there is no room, which the first one always has.
    pub(super) fn push(&mut self, record: Option<Record>) -> bool {
        let Some(record) = record else { return true };
        if self.bytes + record.len_bytes() > CLEANUP_RECORDS_BYTES_MAX && !self.records.is_empty() {
            return false;
        }
        self.bytes += record.len_bytes();
        self.records.push(record);
        true
    }
}
