//! Who is in a group, and what each member is assigned.

use bytes::Bytes;
use client::ClientError;
use client::blocking::Target;
use protocol::error::ErrorCode;
use protocol::messages::consumer_group_describe_response as modern;
use protocol::messages::describe_groups_response as classic;
use protocol::messages::{ConsumerGroupDescribeRequest, DescribeGroupsRequest};
use protocol::wire::{DecodeError, Reader};

use crate::cli::offsets::Place;
use crate::cli::session::Session;

/// A group, without its offsets.
pub(in crate::cli::group) struct State {
    /// `classic` or `consumer`.
    pub(in crate::cli::group) kind: &'static str,
    /// As the coordinator names it.
    pub(in crate::cli::group) state: String,
    pub(in crate::cli::group) members: Vec<Member>,
}

pub(in crate::cli::group) struct Member {
    pub(super) id: String,
    pub(super) client: String,
    pub(super) host: String,
    pub(super) assigned: Vec<Place>,
}

const DESCRIBE_GROUPS_MAX: i16 = 6;
const CONSUMER_GROUP_DESCRIBE_MAX: i16 = 1;

/// Asks for a KIP-848 group first, as far as the broker has them, then for a classic one.
pub(in crate::cli::group) fn describe(session: &mut Session, group: &str) -> Result<State, ClientError> {
    if let Some(found) = describe_modern(session, group)? {
        return Ok(found);
    }
    let (_, answer) = session.client.call(Target::Coordinator(group), DESCRIBE_GROUPS_MAX, |_| {
        DescribeGroupsRequest { groups: vec![group.into()], ..Default::default() }
    })?;
    let found = first(answer.groups, group)?;
    ClientError::check(found.error_code, found.error_message.as_deref(), || format!("group {group}"))?;
    let members = found.members.iter().map(classic_member).collect();
    Ok(State { kind: "classic", state: found.group_state.to_string(), members })
}

fn describe_modern(session: &mut Session, group: &str) -> Result<Option<State>, ClientError> {
    let target = Target::Coordinator(group);
    if session.client.connection_to(target)?.versions().choose::<ConsumerGroupDescribeRequest>(0).is_err() {
        return Ok(None);
    }
    let (_, answer) = session.client.call(target, CONSUMER_GROUP_DESCRIBE_MAX, |_| {
        ConsumerGroupDescribeRequest { group_ids: vec![group.into()], ..Default::default() }
    })?;
    let found = first(answer.groups, group)?;
    // Of a classic group, and of one that isn't there, this API knows nothing.
    if [ErrorCode::GROUP_ID_NOT_FOUND.code(), ErrorCode::UNSUPPORTED_VERSION.code()]
        .contains(&found.error_code)
    {
        return Ok(None);
    }
    ClientError::check(found.error_code, found.error_message.as_deref(), || format!("group {group}"))?;
    let members = found.members.iter().map(modern_member).collect();
    Ok(Some(State { kind: "consumer", state: found.group_state.to_string(), members }))
}

fn first<T>(groups: Vec<T>, group: &str) -> Result<T, ClientError> {
    groups
        .into_iter()
        .next()
        .ok_or_else(|| ClientError::Unknown(format!("the broker said nothing of group {group}")))
}

fn classic_member(member: &classic::DescribedGroupMember) -> Member {
    Member {
        id: member.member_id.to_string(),
        client: member.client_id.to_string(),
        host: member.client_host.to_string(),
        // Whatever else a group's protocol is: its assignment isn't ours to read.
        assigned: assignment(member.member_assignment.clone()).unwrap_or_default(),
    }
}

fn modern_member(member: &modern::Member) -> Member {
    let topics = member.assignment.topic_partitions.iter();
    let places = topics.flat_map(|topic| {
        topic.partitions.iter().map(|partition| (topic.topic_name.to_string(), *partition))
    });
    Member {
        id: member.member_id.to_string(),
        client: member.client_id.to_string(),
        host: member.client_host.to_string(),
        assigned: places.collect(),
    }
}

/// Reads a ConsumerProtocolAssignment, any version: later fields are ignored.
fn assignment(bytes: Bytes) -> Result<Vec<Place>, DecodeError> {
    let mut r = Reader::new(bytes);
    r.i16()?;
    let mut places = Vec::new();
    for _ in 0..r.i32()? {
        let topic = r.opt_string(false)?.unwrap_or_default();
        for _ in 0..r.i32()? {
            places.push((topic.to_string(), r.i32()?));
        }
    }
    Ok(places)
}
